#!/bin/sh
# Tensors in layouts other than the plain ones: filled, computed, compared; the padding is checked.
. "$(dirname "$0")/common"
export KILN_DB=off
"$KILN_COMMAND" --list-devices >devices 2>err || true
grep -q '^[0-9:]*  cpu ' devices || skip 'solver direct_blocked is for CPUs, and here is none'
export KILN_DEVICE=cpu
templates=$(dirname "$0")/../../templates
problem='-n 2 -c 19 -H 6 -W 7 -k 21 -y 3 -x 3 -p 1 -q 1 --fill int'

# shellcheck disable=SC2086
expect 0 conv $problem -I NCHW16c -O NCHW16c -F 3 -S direct_blocked --native-layout
says '^Forward Convolution Verifies OK on CPU reference \(0 < .*\)$'
says '^Backward Convolution Data Verifies OK on CPU reference \(0 < .*\)$'
lacks 'padding'

# The layout that "any" became decides how much memory the tensors need.
# shellcheck disable=SC2086
expect 0 conv $problem -I NHWC16 -O any -F 1 -S direct_blocked
says 'Verifies OK'
# A solver that works on plain tensors gets them reformatted, or refuses.
# shellcheck disable=SC2086
expect 0 conv $problem -I NHWC -O NCHW8c -f NHWC -F 7 -S naive
says '^Backward Convolution Weights Verifies OK'
# shellcheck disable=SC2086
expect 3 conv $problem -I 'NHWC;W%8' -O NCHW -F 1 -S direct_blocked --native-layout
warns 'NC/16HW16'

# Kernels compile without warnings, not even where vectors are wider than the CPU's. PoCL would count
# them on the terminal, so that only who names a folder of templates gets to see any.
KILN_TEMPLATES="$templates" expect 0 conv -n 1 -c 32 -H 28 -W 28 -k 64 -y 1 -x 1 -F 1 -S 13 \
    --config 1,64,1,1,1,1,16,2048,0
silent err
# shellcheck disable=SC2086
KILN_TEMPLATES="$templates" expect 0 conv $problem -F 4 -S weights_blocked
says 'Verifies OK'
silent err
mkdir warning
{ echo '#warning here'; cat "$templates/blocked/direct_blocked.cl"; } >warning/direct_blocked.cl
# shellcheck disable=SC2086
KILN_TEMPLATES="$PWD/warning" expect 0 conv $problem -F 1 -S direct_blocked
if grep -q Portable devices; then warns '^1 warning generated'; fi
rm -r warning

# The largest sums of bytes, 2700 times (-128)^2, are too large to be exact in a float.
head -c 7500 /dev/zero | tr '\0' '\200' >x
head -c 89100 /dev/zero | tr '\0' '\200' >w
expect 0 convint8 -n 1 -c 300 -H 5 -W 5 -k 33 -y 3 -x 3 -p 1 -q 1 -F 1 -S direct_blocked \
    -I NCHW16c -O NCHW16c -d x -e w
says 'Verifies OK'
says 'reference 19660800'
rm x w

# Sigmoid leaves 0.5 in the channels that the last block lacks, unless they are cleared after it.
mkdir broken
sed 's/^#if D_CHANNELS % D_B ||.*$/#if 0/' "$templates/channels.cl" >broken/channels.cl
! cmp -s broken/channels.cl "$templates/channels.cl" || fail 'channels.cl has changed: mend this test'
sigmoid='fwd-f32-n2-c5-k7-i4x6-f3x3-l:NCHW16c.OIHW.NCHW16c-act:sigmoid'
expect 0 conv "--problem=$sigmoid" -F 1 -S direct_blocked
KILN_TEMPLATES="$PWD/broken" expect 1 conv "--problem=$sigmoid" -F 1 -S direct_blocked
says '144 cells of the layout.s padding are not zero'
