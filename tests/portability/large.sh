#!/bin/sh
# Tensors of more than 4 GiB: small integers, so that every element must be exact. For a device with
# much memory; lines that do not fit into it are skipped.
#
#     KILN_COMMAND=build/release/kiln tests/portability/large.sh
#     tests/portability/large.sh --dry-run     plans every line, on no device, and says what it needs
#     SCALE=64 tests/portability/large.sh      the same shapes with 1/64 of the images
#     tests/portability/large.sh 'F 2|gemm'    only lines whose words match the pattern of grep -E
#
# KILN_DEVICE chooses the device. Each line needs about the memory that it states on the device, and
# as much again, and 4 bytes more for each half, on the host. The printed lines tell how many elements
# were checked: on 16 cores of the host all of them, on few cores a sample.
set -eu
kiln=${KILN_COMMAND:-build/release/kiln}
scale=${SCALE:-1} dry=
if [ "${1:-}" = --dry-run ]; then
    dry=--dry-run
    shift
fi
pattern=${1:-.}
passed=0 failed=0 skipped=0
out=$(mktemp) err=$(mktemp)
trap 'rm -f "$out" "$err"' EXIT

# line GB IMAGES WORDS...: GB is what x, w and y take together, with all images.
line() {
    gb=$1 images=$(($2 / scale))
    shift 2
    [ "$images" -gt 0 ] || images=1
    echo "$*" | grep -Eq -e "$pattern" || return 0
    status=0
    "$kiln" "$@" -n "$images" --fill int -V 1 -t 0 $dry >"$out" 2>"$err" || status=$?
    words="$* -n $images"
    [ "$scale" -eq 1 ] && size="$gb GB" || size="$gb/$scale GB"
    case $status in
    0) passed=$((passed + 1)) && echo "ok       $size  kiln $words" ;;
    3) skipped=$((skipped + 1)) && echo "skipped  $size  kiln $words: $(tail -n 1 "$err")" ;;
    *) failed=$((failed + 1)) && echo "FAILED   $size  kiln $words" && cat "$out" "$err" ;;
    esac
    grep -E 'FAILED|checked' "$out" || true
}

nchw='-c 64 -H 256 -W 256 -k 64 -y 1 -x 1'
nhwc="$nchw -I NHWC -O NHWC -f NHWC"
wide='-c 64 -H 256 -W 256 -k 8 -y 3 -x 3 -p 1 -q 1'
# 320 images of 64 x 256 x 256 are 5.4 GB of f32; x and y are both that large.
for direction in 1 2 4; do
    # shellcheck disable=SC2086
    line 10.8 320 conv $nchw -F $direction
    # shellcheck disable=SC2086
    line 10.8 320 conv $nhwc -F $direction
    # One large tensor and a small one: the other offsets stay short.
    # shellcheck disable=SC2086
    line 6.1 320 conv $wide -F $direction
    # 544 images of f16 are 4.6 GB.
    # shellcheck disable=SC2086
    line 9.2 544 convfp16 $nchw -F $direction
done
# The solvers for GPUs; the ones that do not take the type are skipped.
thin='-c 8 -H 256 -W 256 -k 64 -y 3 -x 3 -p 1 -q 1' # few channels of the result of -F 2
deep='-c 64 -H 256 -W 256 -k 64 -g 64 -y 3 -x 3 -p 1 -q 1'
# shellcheck disable=SC2086
for word in conv convfp16; do
    [ $word = conv ] && images=320 || images=544
    line 10.8 $images $word $nchw -F 1 -S gemm
    line 10.8 $images $word $nchw -F 2 -S gemm
    line 10.8 $images $word $nhwc -F 2 -S gemm
    for solver in gemm winograd_gemm; do
        line 6.1 $images $word $wide -F 1 -S $solver
        line 6.1 $images $word $wide -F 2 -S $solver
    done
    line 6.1 $images $word $wide -F 1 -S gemm_phases
    line 6.1 $images $word $thin -F 2 -S gemm_phases
    line 10.8 $images $word $nchw -F 4 -S gemm_weights
    line 6.1 $images $word $wide -F 4 -S gemm_weights
    line 6.1 $images $word $wide -F 4 -S winograd_gemm_weights
    line 10.8 $images $word $deep -F 1 -S depthwise_gather
    line 10.8 $images $word $deep -F 2 -S depthwise_gather
    line 10.8 $images $word $deep -F 4 -S depthwise_reduce
done
# Those for tensor cores.
# shellcheck disable=SC2086
{
    for solver in gemm_mma gemm_wgmma; do
        line 10.8 544 convfp16 $nchw -F 1 -S $solver
        line 10.8 544 convfp16 $nchw -F 2 -S $solver
        line 10.8 544 convfp16 $nhwc -F 2 -S $solver
    done
    line 10.8 544 convfp16 $nchw -I NHWC -O NHWC -F 1 -S gemm_tma
    line 10.8 544 convfp16 $nchw -I NHWC -O NHWC -F 2 -S gemm_tma
    line 6.1 544 convfp16 $wide -I NHWC -O NHWC -F 1 -S halo_wgmma
    for solver in gemm_weights_mma gemm_weights_wgmma; do
        line 10.8 544 convfp16 $nchw -F 4 -S $solver
        line 6.1 544 convfp16 $wide -F 4 -S $solver
    done
}
echo "large: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
