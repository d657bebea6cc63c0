#!/bin/sh
# kiln emit: projects that need OpenCL alone are built without kiln, run, and give the bits that kiln
# gives.
. "$(dirname "$0")/common"
command -v cmake >/dev/null || skip 'no cmake'

# emitted PROBLEM SOLVER FLAGS...: makes, builds and runs a project, and compares its result.
emitted() {
    problem=$1 solver=$2
    shift 2
    rm -rf project dump_*
    expect 0 emit --problem "$problem" -S "$solver" "$@" -o project
    silent out
    if grep -rqi 'kiln\.h\|lkiln' project; then fail 'the project needs kiln'; fi
    {
        cmake -S project -B project/build -DCMAKE_C_FLAGS='-Wall -Wextra -Werror' &&
            cmake --build project/build
    } >out 2>err || fail "the project of $problem does not build"
    (cd project && build/conv_main "$number") >out 2>err || fail "the project of $problem does not run"
    says "^$problem: [0-9.e-]+ ms$"
    bias=
    [ ! -f project/data/bias.bin ] || bias='-a project/data/bias.bin'
    # shellcheck disable=SC2086
    expect 0 conv --problem "$problem" -S "$solver" -d project/data/x.bin -e project/data/w.bin $bias \
        -o 1 -V 1
    cmp project/y.bin dump_fwd_out_gpu.bin >out 2>err || fail "the project of $problem computes something else"
}

# The number of the device that kiln takes, among all devices.
expect 0 conv --problem fwd-f32-n1-c1-k1-i1x1-f1x1 -V 0 -i 1 --csv
device=$(sed -n 's/.*,\([0-9]*:[0-9]*\) .*/\1/p' out | head -1)
expect 0 --list-devices
number=$(($(grep -n "^$device " out | cut -d: -f1) - 1))
[ "$number" -ge 0 ] || fail "kiln's device is not in its list"

emitted fwd-f32-n1-c16-k32-i28x28-f3x3-p1x1-bias-act:relu direct
emitted fwd-f16-n2-c4-k8-i9x9-f3x3-s2x2-g2 naive
emitted fwd-i8-n1-c16-k16-i8x8-f3x3 naive
emitted fwd-f32-n1-c8-k3-i10x10-f3x3-s2x2-trans-bias naive
if [ "${KILN_DEVICE:-}" = cpu ]; then
    emitted fwd-f32-n1-c32-k32-i14x14-f3x3-p1x1-bias direct_blocked
    emitted fwd-f32-n1-c64-k64-i28x28-f3x3-p1x1 winograd_staged
fi
expect 0 emit --problem fwd-f32-n1-c16-k16-i50-f5-bias-r1-act:silu --dry-run -o any
[ -s any/data/residual.bin ] || fail 'the residual has no data'

expect 0 emit --help
says '^usage: kiln emit'
expect 2 emit --problem fwd-f32-n1-c1-k1-i1x1-f1x1
warns '^kiln emit: name a folder by -o DIR'
expect 3 emit --problem bwd-f32-n1-c1-k1-i1x1-f1x1 -o any
warns '^kiln emit: a project runs the forward direction'
expect 2 emit --problem fwd-nonsense -o any
expect 5 emit --problem fwd-f32-n1-c1-k1-i1x1-f1x1 --dry-run -o nowhere/deep
warns '^kiln emit: nowhere/deep: No such file'
