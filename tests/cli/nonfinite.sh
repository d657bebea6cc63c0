#!/bin/sh
# NaNs and infinities: they pass through every activation, and verification tells the ones that are due
# from the others.
. "$(dirname "$0")/common"
export KILN_DB=off
templates=$(dirname "$0")/../../templates

# floats COUNT AT BYTES: COUNT floats of 1.0; the one with the index AT has the four bytes.
floats() {
    BYTES=$3 awk -v n="$1" -v at="$2" 'BEGIN {
        for (i = 0; i < n; i++) printf "%s", i == at ? ENVIRON["BYTES"] : "\\0\\0\\200\\077"
    }' >text
    # shellcheck disable=SC2059
    printf "$(cat text)"
}
nan='\0\0\300\177' inf='\0\0\200\177' minus='\0\0\200\377' huge='\231\166\226\176' # 1e38

# An infinity that is due.
floats 9 0 "$inf" >x
floats 1 0 '\0\0\200\077' >w
one='-n 1 -c 1 -H 3 -W 3 -k 1 -y 1 -x 1 -F 1 -d x -e w'
# shellcheck disable=SC2086
expect 0 conv $one -S naive
says '^Forward Convolution Verifies OK on CPU reference \(0 < 1.5e-06\)$'
says 'element 0: inf, reference inf.* 1 rightly not finite; all 9 elements checked$'
lacks 'nan'

# A kernel that makes another class of it.
mkdir broken
for wrong in NAN -INFINITY 0.0f; do
    sed "s/DST_STORE(dst, index, \(FINISH([^;]*)\));/DST_STORE(dst, index, index == 0 ? $wrong : \1);/" \
        "$templates/naive/naive.cl" >broken/naive.cl
    # shellcheck disable=SC2086
    KILN_TEMPLATES="$PWD/broken" expect 1 conv $one -S naive
    says '^Forward Convolution FAILED: inf > 1.5e-06, 1 of 9 elements are wrong$'
done

# all_right WORDS...: every line of ./lines is right; the words are flags of all of them. In one process:
# to load PoCL's compiler takes longer than to run a line.
all_right() {
    expect 0 conv "$@" --batch lines
    lines=$(grep -c . lines)
    [ "$(grep -c '^[A-Za-z ]*Verifies OK' out)" -eq "$lines" ] || fail "not all of $lines lines are right"
}

# Element by element, in blocks of channels, in pixels of an image and in rows.
activations() {
    for name in relu clipped_relu leaky_relu elu tanh sigmoid silu gelu hard_sigmoid hard_swish hard_tanh \
        mish exp abs square softplus; do
        echo "conv --activation $name"
    done >lines
    all_right "$@"
    [ "$(grep -c " $elements rightly not finite;" out)" -eq 16 ] ||
        fail "not all of 16 activations keep the NaN"
}
floats 9 4 "$nan" >x
elements=1
# shellcheck disable=SC2086
activations $one -S naive
floats 72 4 "$nan" >x
floats 64 64 '' >w
eight='-n 1 -c 8 -H 3 -W 3 -k 8 -y 1 -x 1 -F 1 -d x -e w'
elements=8
if [ "${KILN_DEVICE:-}" = cpu ]; then
    # shellcheck disable=SC2086
    activations $eight -S direct_blocked -I NCHW8c -O NCHW8c --native-layout
    # shellcheck disable=SC2086
    activations $eight -S direct_pixels
fi
# shellcheck disable=SC2086
"$KILN_COMMAND" conv $eight -S direct_image -I IMG_CHANNEL_MAJOR -O IMG_CHANNEL_MAJOR -f IMG_CONV_FILTER \
    --native-layout >out 2>err &&
    activations $eight -S direct_image -I IMG_CHANNEL_MAJOR -O IMG_CHANNEL_MAJOR \
        -f IMG_CONV_FILTER --native-layout

# Every solver, each with an odd weight that meets padding and with an odd value in x and dy.
accepting() {
    "$KILN_COMMAND" explain "$@" 2>err | sed -n 's/^[* ] \([A-Za-z0-9_]*\)  *[0-9]*  [0-9.e+-]* ms .*/\1/p'
}
shape='-n 1 -c 8 -H 10 -W 10 -k 8 -y 3 -x 3 -p 1 -q 1'
floats 800 800 '' >plain_x
floats 576 576 '' >plain_w
floats 576 27 "$nan" >nan_w
floats 800 100 "$minus" >odd_x
floats 800 155 "$nan" >nan_x
# shellcheck disable=SC2086
{
    for solver in $(accepting conv $shape -F 1); do
        echo "conv -F 1 -S $solver -d plain_x -e nan_w"
        echo "conv -F 1 -S $solver -d odd_x -e plain_w"
    done
    for solver in $(accepting conv $shape -F 2); do
        echo "conv -F 2 -S $solver -D nan_x -e plain_w"
    done
    for solver in $(accepting conv $shape -F 4); do
        echo "conv -F 4 -S $solver -D plain_x -d odd_x"
        echo "conv -F 4 -S $solver -D nan_x -d plain_x"
    done
} >lines
# shellcheck disable=SC2086
all_right $shape
# Without Winograd a NaN stays with the sums that it is a term of.
# shellcheck disable=SC2086
expect 0 conv $shape -F 1 --math exact -d nan_x -e plain_w
says ' 72 rightly not finite;'
# Winograd's sums overflow where plain sums do not.
floats 800 155 "$huge" >x
# shellcheck disable=SC2086
expect 0 conv $shape -F 1 -S naive -d x -e plain_w
lacks 'not finite'
if accepting conv $shape -F 1 | grep -q winograd_fused; then
    # shellcheck disable=SC2086
    expect 0 conv $shape -F 1 -S winograd_fused -d x -e plain_w
fi

# Factors below 2^-126 may count as zero, however large the others are: 16 products of 2^-133 and 1e30.
# shellcheck disable=SC2046
printf '\001\0%.0s' $(seq 16) >x
# shellcheck disable=SC2046
printf '\111\161%.0s' $(seq 256) >w
small='-n 1 -c 16 -H 1 -W 1 -k 16 -y 1 -x 1 -F 1 -d x -e w'
# shellcheck disable=SC2086
expect 0 convbfp16 $small -S naive
if [ "${KILN_DEVICE:-}" = cpu ]; then
    # shellcheck disable=SC2086
    expect 0 convbfp16 $small -S direct_blocked
    # shellcheck disable=SC2086
    expect 0 convbfp16 $small -S direct_blocked --math exact
fi

# Vectors of sums become bf16: a NaN, an infinity, and a sum beyond the largest number.
# shellcheck disable=SC2046
ones() { printf '\200\077%.0s' $(seq "$1"); }
{ ones 4 && printf '\300\177' && ones 15 && printf '\200\177' && ones 39; } >x
{ printf '\177\177' && ones 8 && printf '\177\177' && ones 74; } >>x
ones 256 >w
if [ "${KILN_DEVICE:-}" = cpu ]; then
    expect 0 convbfp16 -n 1 -c 16 -H 3 -W 3 -k 16 -y 1 -x 1 -F 1 -d x -e w -S direct_blocked \
        -I NC/16HW16 -O NC/16HW16
    says ' 48 rightly not finite;'
fi
