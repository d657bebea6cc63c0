#!/bin/sh
# Tensors in images from the command line: native kernels, verified; the tuner; limits; the check of
# padding.
. "$(dirname "$0")/common"

small='-n 2 -c 5 -H 8 -W 9 -k 6 -y 3 -x 3 -p 1 -q 1 -F 1 -I IMG_CHANNEL_MAJOR -O IMG_CHANNEL_MAJOR'
native='--native-layout -V 1 -t 0'

for word in conv convfp16; do
    for filter in IMG_CONV_FILTER IMG_CONV_FILTER_PADI IMG_CONV_FILTER_FLAT OIHW; do
        # shellcheck disable=SC2086
        expect 0 $word $small -f $filter $native -S direct_image
        says '^Forward Convolution Verifies OK'
    done
    # shellcheck disable=SC2086
    expect 0 $word $small $native -S winograd_image
    says '^Forward Convolution Verifies OK'
done
# Without -S the library finds a solver that reads images.
# shellcheck disable=SC2086
expect 0 conv $small -f IMG_CONV_FILTER $native -b 1 --json
says '"solver":"direct_image"'
says '"verify":"ok"'
expect 0 conv -n 1 -c 7 -H 5 -W 6 -k 7 -g 7 -y 3 -x 3 -F 1 -I IMG_CHANNEL_MAJOR -O IMG_CHANNEL_MAJOR \
    -f IMG_DW_FILTER --native-layout -V 1 -t 0 --json
says '"solver":"depthwise_image"'
says '"verify":"ok"'

# All operands are images, of f32 and of f16.
for filter in 'IMG_CONV_FILTER -k 6' 'IMG_DW_FILTER -k 5 -g 5'; do
    # shellcheck disable=SC2086
    KILN_CHECK_PADDING=1 expect 0 conv $small -f $filter --native-layout -V 1 -b 1 \
        --bias_layout IMG_ARGUMENT --activation sigmoid
    says '^Forward Convolution Verifies OK'
    # shellcheck disable=SC2086
    KILN_CHECK_PADDING=1 expect 0 convfp16 $small -f $filter --native-layout -V 1 -b 1 \
        --bias_layout IMG_ARGUMENT --bias_type f16 --activation sigmoid
    says '^Forward Convolution Verifies OK'
done
# A solver that does not read a bias image gets a plain bias; a gradient is copied to its image.
expect 0 conv -n 2 -c 3 -H 5 -W 6 -k 7 -F 5 -b 1 --bias_layout IMG_ARGUMENT -V 1
says '^Forward Convolution Verifies OK'
says '^Backward Convolution Bias Verifies OK'
expect 3 conv -n 2 -c 3 -H 5 -W 6 -k 7 -F 1 -b 1 --bias_layout IMG_ARGUMENT --native-layout
warns 'takes the bias as f32; here it is .W.4w of f32'
expect 2 conv -n 2 -c 3 -k 7 --bias_layout IMG_ARGUMENT
warns 'need --bias 1'
expect 2 conv -n 2 -c 3 -k 7 -b 1 --bias_type i8
warns "'i8'; it must be f32, f16, bf16, f8e4m3 or f8e5m2"

# Images that no solver reads are reformatted.
expect 0 conv -n 1 -c 5 -H 6 -W 7 -k 6 -y 3 -x 3 -F 0 -I IMG_WIDTH_MAJOR -O IMG_HEIGHT_MAJOR \
    -f IMG_WEIGHT_WIDTH -V 1 -t 0
expect 3 conv -n 1 -c 5 -H 6 -W 7 -k 6 -y 3 -x 3 -F 1 -I IMG_WIDTH_MAJOR -O IMG_HEIGHT_MAJOR \
    --native-layout
warns '^unsupported: '

# The tuner, with a destination image of NaN.
# shellcheck disable=SC2086
expect 0 conv $small -f OIHW -S direct_image -s 1 --limit-ms 1500 -V 1 -t 0
says '^search: '
says '^Forward Convolution Verifies OK'

# A padding lane that the sigmoid filled is a wrong result, with and without the check.
mkdir broken
image=$(dirname "$0")/../../templates/image/image.cl
sed 's/^#if D_CHANNELS % 4$/#if 0/' "$image" >broken/image.cl
! cmp -s broken/image.cl "$image" || fail 'image.cl has changed: mend this test'
sigmoid='fwd-f32-n1-c5-k6-i4x5-f3x3-l:NH|CW|4c.OIHW.NH|CW|4c-act:sigmoid'
KILN_TEMPLATES="$PWD/broken" expect 1 conv "--problem=$sigmoid" -F 1 -S direct_image
KILN_TEMPLATES="$PWD/broken" KILN_CHECK_PADDING=1 expect 1 conv "--problem=$sigmoid" -F 1 -S direct_image
warns 'direct_image of direct_image.cl, left 12 of 12 cells of padding in y, layout NH.CW.4c'
KILN_CHECK_PADDING=1 expect 0 conv "--problem=$sigmoid" -F 1 -S direct_image

# A refusal at a limit names both numbers.
expect 3 conv -n 1 -c 80004 -H 1 -W 16 -k 4 -y 1 -x 1 -F 1 -I IMG_CHANNEL_MAJOR
warns 'tensor x: image width 320016 exceeds the limit of [0-9]+'
