#!/bin/sh
# ./dev bench fit: from measured configs to numbers in the form of a fit's header.
. "$(dirname "$0")/common"
fit=$(dirname "$KILN_COMMAND")/tests/bench_fit
source=$(cd "$(dirname "$0")/../.." && pwd)
[ -x "$fit" ] || skip "the benches are not built"
bench() { # STATUS WORDS...
    wanted=$1
    shift
    status=0
    "$fit" "$@" >out 2>err || status=$?
    [ "$status" -eq "$wanted" ] || fail "'bench_fit $*' ended with $status, not $wanted"
}

# The problems to measure.
bench 0 direct_pixels quick --every 9 --batch 2 --type f16 --direction bwd
says '^bwd-f16-n2-c3-k64-i224x224-f7x7-s2x2-p3x3-l:NHWC.OIHW.NHWC$'
bench 2
warns 'name the solvers'

# A solver for CPUs, and one for GPUs, which a CPU runs by its guess.
cat >problems <<'TEXT'
fwd-f32-n1-c5-k6-i9x9-f3x3
fwd-f32-n1-c7-k3-i12x10-f3x3-s2x2
fwd-f32-n1-c4-k9-i8x8-f1x1
fwd-f32-n1-c16-k12-i1x1-f1x1
fwd-f32-n1-c3-k4-i7x9-f3x3-p1x1
TEXT
expect 0 tune problems --solvers direct_pixels,gemv --trials 4 --seconds 0
bench 0 direct_pixels,gemv --log rows.trials.jsonl
says '^[1-9][0-9]* configs of [345] problems; 0 trials of another device'
says '^  fitted  '
says '^    \.name = "gemv",$'
says '^    \.error = "[0-9]+ % \(root mean square\)'
cp out whole

# The lines are C, and name every number.
if command -v cc >/dev/null 2>&1; then
    for solver in direct/direct_pixels gpu/gemv; do
        name=${solver#*/}
        {
            echo "#include \"generator/solvers/${solver}_fit.h\""
            echo "const kiln_fit fitted = {"
            sed -n "/^    .name = \"$name\"/,/),\$/p" whole
            echo "};"
            echo "const kiln_fit *const before = &${name}_fit;"
        } >fitted.c
        cc -std=c11 -Wall -Wextra -Werror -fsyntax-only -I "$source" fitted.c >err 2>&1 ||
            fail "the fit of $name is no C"
        [ "$(grep -c '^ *\.[a-z_0-9]* = [0-9.e+-]*\()\)*,\{0,1\}$' fitted.c)" -ge 8 ] ||
            fail "the fit of $name lacks numbers"
    done
fi

# Trials of other devices do not count; neither do solvers without a fit.
sed 's/"device": *"[^"]*"/"device": "another card"/' rows.trials.jsonl >elsewhere.jsonl
bench 1 gemv --log elsewhere.jsonl
warns 'no timed trial'
bench 2 gemv,nobody --log rows.trials.jsonl
warns 'no solver "nobody"'
bench 2 naive --log rows.trials.jsonl
warns 'naive'
