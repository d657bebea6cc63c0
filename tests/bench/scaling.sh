#!/bin/sh
# How kiln and oneDNN scale with the CPU's threads.
#
#     ./dev bench scaling [LIST...] [OPTIONS]      quick resnet50, forward, in layouts of their own
#
# A line for each list, batch, type and number of threads has kiln's speed over its own with the
# first number of threads, oneDNN's over its own, and oneDNN's time over kiln's: geometric means
# over the layers, and the worst layer. A line is printed as soon as it is known. Layers that other
# processes disturbed do not count; with DISTURBED=1 they do.
#
# THREADS ("2 4 8 16", those for which there are cores), BATCHES ("1 16") and EVERY (4: one of four
# layers) choose what is timed; OPTIONS (--rounds 3) are those of ./dev bench cpu. TIME=SECONDS ends
# it then and names what it passed over. KEEP=DIR keeps the JSON lines and the log of each process.
. "$(dirname "$0")/common"
lists=
while [ $# -gt 0 ]; do
    case $1 in
    --help | -h) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;;
    -*) break ;;
    esac
    [ -f "$1" ] || [ -f "tests/bench/shapes/$1.txt" ] || {
        echo "bench: there is no list $1" >&2
        exit 2
    }
    lists="$lists $1"
    shift
done
box=${KEEP:-$(mktemp -d)}
mkdir -p "$box"
trap '[ -n "${KEEP:-}" ] || rm -rf "$box"' EXIT
trap 'exit 130' INT TERM
began=$(date +%s)

thread_counts() {
    cores=$(env -u OMP_NUM_THREADS nproc) # which would tell that variable's value
    for n in 2 4 8 16; do
        [ "$n" -gt "$cores" ] || echo "$n"
    done
}

# numbers NAME VALUE...: stops where a value is none.
numbers() {
    of=$1
    shift
    for n in "$@"; do
        case $n in
        '' | 0* | *[!0-9]*) echo "bench: $of is \"$*\"; give numbers from 1 on" >&2; exit 2 ;;
        esac
    done
}

# compare THREADS SECONDS NAME ARGUMENTS...: leaves the rows in NAME.json. False: there are none.
compare() {
    n=$1 limit=$2 what=$3 out=$box/$3
    shift 3
    rm -f "$out.json"
    status=0
    OMP_NUM_THREADS=$n POCL_MAX_PTHREAD_COUNT=$n BENCH_PEER=/dev/null \
        timeout --foreground -s INT "$limit" "$programs/bench_cpu" --quick --rounds 1 \
        --class forward-any --class depthwise --class forward-bf16 --every "${EVERY:-4}" \
        --json "$out.json" "$@" >"$out.log" 2>&1 || status=$?
    case $status in
    0) ;;
    124) passed_over="$passed_over $what (in part)" ;;
    *)
        tail -n 3 "$out.log" >&2
        [ "$status" != 2 ] || exit 2
        failed=1
        ;;
    esac
    [ -f "$out.json" ]
}

# title LOG: the machine and the columns, once.
title() {
    [ -z "$titled" ] || return 0
    titled=1
    sed -n '/^date/p; /^cpu/s/, [0-9]* threads$//p; /^kiln/p; /^peer.*oneDNN/p' "$1"
    printf '%-10s %5s %4s %7s %6s %6s %6s %11s %5s\n' list batch type threads layers kiln oneDNN \
        kiln/oneDNN worst
}

# row TYPE FIRST NOW: the rest of a line, of the rows of a type in two files.
row() {
    awk -v type="$1" -v all="${DISTURBED:-0}" '
    # Returns the value of the first member of this name in a line of JSON.
    function member(text, name) {
        if (!match(text, "\"" name "\":(\"[^\"]*\"|[^,}]*)")) return ""
        text = substr(text, RSTART + length(name) + 3, RLENGTH - length(name) - 3)
        gsub(/"/, "", text)
        return text
    }
    /"kind":"compared"/ { turns = member($0, "disturbed"); slow = member($0, "slow") }
    !/"kind":"row"/ || (member($0, "class") ~ /bf16/ ? "bf16" : "f32") != type { next }
    {
        # The contenders, kiln first; kiln in f32 is the rival where oneDNN lacks the type.
        parts = split($0, part, "{\"name\":")
        key = member(part[1], "problem")
        ms = member(part[2], "ms")
        peer_ms = 0
        for (i = 3; i <= parts; i++)
            if (part[i] ~ /^"oneDNN"/ && member(part[i], "detail") == member(part[1], "rival"))
                peer_ms = member(part[i], "ms")
        counts = all || member(part[1], "doubtful") == "false"
    }
    NR == FNR && counts { kiln_first[key] = ms; peer_first[key] = peer_ms }
    NR == FNR { next }
    !counts { disturbed++; next }
    {
        layers++
        if (key in kiln_first) { kiln += log(kiln_first[key] / ms); kilns++ }
        if (!peer_ms) next
        if (peer_first[key]) { peer += log(peer_first[key] / peer_ms); peers++ }
        ratio = member(part[1], "ratio") + 0 # a number, not a text
        against += log(ratio)
        if (!rivals++ || ratio < worst) { worst = ratio; name = member(part[1], "layer") }
    }
    function mean(sum, n) { return n ? sprintf("%.2f", exp(sum / n)) : "-" }
    END {
        printf "%6d %6s %6s %11s %5s", layers, mean(kiln, kilns), mean(peer, peers),
            mean(against, rivals), rivals ? sprintf("%.2f %s", worst, name) : "-"
        if (disturbed)
            printf "; %d more were disturbed (%d of %d turns by a machine below its full speed)",
                disturbed, slow, turns
        printf "\n"
    }' "$box/$2.json" "$box/$3.json"
}

# table LIST BATCH OPTIONS...: the lines of a list at a batch.
table() {
    list=$1 batch=$2
    shift 2
    name=$(basename "$list" .txt)
    first=
    for threads in $counts; do
        file=$name.$batch.$threads
        limit=0 # none
        if [ -n "${TIME:-}" ]; then
            limit=$((began + TIME - $(date +%s)))
            [ "$limit" -ge 5 ] || { passed_over="$passed_over $file"; continue; }
        fi
        compare "$threads" "$limit" "$file" "$list" --batch "$batch" "$@" || continue
        title "$out.log"
        first=${first:-$file}
        for type in f32 bf16; do
            printf '%-10s %5s %4s %7s ' "$name" "$batch" "$type" "$threads"
            row "$type" "$first" "$file"
        done
    done
}

counts=${THREADS:-$(thread_counts)}
[ -n "$counts" ] || {
    echo "bench: there is one core; THREADS=\"1 2\" has two threads share it" >&2
    exit 2
}
numbers THREADS $counts
[ -z "${TIME:-}" ] || numbers TIME "$TIME"
titled= passed_over= failed=0
for batch in ${BATCHES:-1 16}; do
    for list in ${lists:-quick resnet50}; do
        table "$list" "$batch" "$@"
    done
done
[ -z "$passed_over" ] || echo "no time was left for (list.batch.threads)$passed_over"
exit $failed
