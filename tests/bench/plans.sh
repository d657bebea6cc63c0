#!/bin/sh
# What every solver plans for every layer on each device model, as text: needs no device.
#
# Compares two versions of kiln: run it in both trees and diff the outputs. A line has the device
# model, the layouts, the problem, the solver, its config, the predicted ms, a hash of everything in
# the plan (options, grids, arguments), and a hash over the first configs that a search would try.
# Plans that should not change show no line; others are named.
#
#     ./dev bench plans [LIST...] [--options]
#
# A LIST is a file of layers or the name of one in tests/bench/shapes, all of which are the default.
# Each layer is planned forward, backward data and backward weights in f32; those of quick.txt also
# forward in f16, bf16 and i8. --options prints the compile options of each plan in place of its
# hash.
. "$(dirname "$0")/common"
options=
lists=
for word in "$@"; do
    case $word in
    --options) options=$word ;;
    -*) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 2 ;;
    *)
        [ -f "$word" ] || word=tests/bench/shapes/$word.txt
        [ -f "$word" ] || { echo "bench: there is no list $word" >&2; exit 2; }
        lists="$lists $word"
        ;;
    esac
done

names() { # list of layers, combinations of direction and type
    awk -v combinations="$2" '
        function triple(text, from, rank, plain,    i, part, all_plain) {
            all_plain = 1
            part = ""
            for (i = 0; i < rank; i++) {
                part = part (i ? "x" : "") $(from + i)
                all_plain = all_plain && $(from + i) == plain
            }
            return all_plain ? "" : "-" text part
        }
        { end = "" }
        $2 == "ASYM-PAD" { # (top,bottom,left,right)=1,0,1,0 : name N C ...
            split($3, sides, "="); split(sides[2], pads, ",")
            sub(/.* : /, ""); $9 = pads[1]; $10 = pads[3]; end = "-e" pads[2] "x" pads[4]
        }
        /^#/ || (NF != 15 && NF != 20) { next }
        {
            rank = NF == 15 ? 2 : 3
            input = 4; k = input + rank; filter = k + 1; pad = filter + rank
            stride = pad + rank; dilation = stride + rank
            name = "-n" $2 "-c" $3 "-k" $k triple("i", input, rank, -1) triple("f", filter, rank, -1)
            name = name triple("s", stride, rank, 1) triple("p", pad, rank, 0) end
            name = name triple("d", dilation, rank, 1) ($NF != 1 ? "-g" $NF : "")
            n = split(combinations, each, " ")
            for (i = 1; i <= n; i++) print each[i] name
        }' "$1"
}

for list in ${lists:-tests/bench/shapes/*.txt}; do
    names "$list" 'fwd-f32 bwd-f32 wrw-f32'
    case $list in */quick.txt) names "$list" 'fwd-f16 fwd-bf16 fwd-i8' ;; esac
done | awk '!seen[$0]++' | "$programs/bench_plans" $options
