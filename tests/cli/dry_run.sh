#!/bin/sh
# Plans without a device and without a platform: the block of --printconv, and explain.
. "$(dirname "$0")/common"
export OCL_ICD_VENDORS="$KILN_SANDBOX/nothing"
seed='-n 16 -c 192 -H 28 -W 28 -k 64 -y 1 -x 1'

# shellcheck disable=SC2086
expect 0 conv $seed -F 1 -P 1 --dry-run -S 13 --config 1,64,1,1,1,1,16,2048,0
says '^problem            fwd-f32-n16-c192-k64-i28x28-f1x1$'
says '^output size        28x28$'
says '^solver             13/ConvOclDirectFwd1x1'
says '^config             1,64,1,1,1,1,16,2048,0 \(--config\)$'
for fact in 'N_LCL_IN_MAPS      192' 'N_LCL_OUT_MAPS     16' 'N_LCL_IN_MAPS_ONCE 8' \
    'N_IN_GROUPS        1' 'N_OUT_GROUPS       4' 'CLOOP0             24' 'CLOOP2             24'; do
    says "^$fact\$"
done
options='-DMLO_FILTER_STRIDE0=1 -DMLO_FILTER_STRIDE1=1 -DMLO_N_LCL_IN_MAPS_ONCE=8 -DBATCHSIZE=16'
options="$options -DH=28 -DW=28 -DC=192 -DK=64 -DMLO_N_LCL_IN_MAPS=192 -DMLO_N_INPUTS=192"
options="$options -DMLO_N_OUTPUTS=64 -DH_out=28 -DW_out=28 -DMLO_N_IN_GROUPS=1 -DMLO_CLOOP0=24"
options="$options -DMLO_CLOOP2=24 -DMLO_N_LCL_OUT_MAPS=16 -DMLO_CHEAT_SHADER_COMPILER=1"
says "^  compile options  $options -DMLopen_RUNNING=1( |\$)"
says '^  local size       64x1x1$'
says '^  groups           784$'
says '^  global size      50176x1x1$'
lacks 'Verifies'

# printed only on request
# shellcheck disable=SC2086
expect 0 conv $seed -F 1 --dry-run
lacks '^problem '
says '^config [0-9,]+ of [A-Za-z0-9_]+ guessed, not measured; -s 1 tunes$'
expect 0 MIOpenDriver conv -n16 --in_channels=192 -H 28 --in_w=28 -k 64 -y1 -x 1 -F 1 -P 1 --dry-run
says '^kiln conv -n16 '
says '^problem            fwd-f32-n16-c192-k64-i28x28-f1x1$'
expect 0 /opt/rocm/bin/MIOpenDriver convfp16 --problem fwd-f16-n2-c3-k4-i5x5-f1x1 -P 1 --dry-run
says '^problem            fwd-f16-n2-c3-k4-i5x5-f1x1$'
expect 0 conv --problem 192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP32-F -P 1 --dry-run
says '^problem            fwd-f32-n16-c192-k64-i28x28-f1x1$'

# named NAME FLAGS...: the first direction of the flags is this problem
named() {
    name=$1
    shift
    expect 0 conv --dry-run -P 1 "$@"
    says "^problem            $name\$"
}
named fwd-f32-n100-c3-k32-i32x32-f3x3
named 'fwd-f32-n1-c3-k32-i32x32-f3x3-s2x2-e1x1' -n 1 -F 1 -u 2 -v 2 -z same
named 'fwd-f32-n1-c3-k32-i32x32-f5x4-p2x1-e2x2' -n 1 -F 1 -y 5 -x 4 -z same
named 'fwd-f32-n1-c3-k32-i32x32-f3x3' -n 1 -F 1 -p 1 -q 1 -z valid
named 'fwd-f32-n1-c3-k32-i32x32-f3x3-p1x2-e0x3' -n 1 -F 1 -p 1 -q 2 --pad_h_end 0 --pad_w_end 3
named 'wrw-f32-n1-c3-k32-i9-f3-d2' -n 1 -F 4 -_ 1 -W 9 -j 2
named 'fwd-f32-n1-c3-k32-i7x8x9-f1x2x3-s3x1x1-p4x0x0-d5x1x1' -n 1 -F 1 -_ 3 '-!' 7 -H 8 -W 9 \
    '-@' 1 -y 2 -x 3 '-#' 3 '-$' 4 '-^' 5
named 'fwd-f32-n1-c4-k6-i5x5-f3x3-s2x3-g2-trans-o1x2' -n 1 -F 1 -c 4 -k 6 -H 5 -W 5 -g 2 -u 2 \
    -v 3 -m trans -Y 1 -X 2
named 'fwd-f32-n1-c4-k6-i5x5-f3x3-p1x1-trans' -n 1 -F 1 -c 4 -k 6 -H 5 -W 5 -p 1 -q 1 -m trans -z valid
says "^Info: '--pad_mode' is ignored"
named 'fwd-f32-n1-c3-k32-i32x32-f3x3' -n 1 -F 1 --in_layout nchw -f NCHW -O NCHW

# explain gives every solver a verdict, one of them chosen
# shellcheck disable=SC2086
expect 0 explain --dry-run $seed -F 4
says '^problem wrw-f32-n16-c192-k64-i28x28-f1x1$'
says '^  ConvOclDirectFwd1x1 +13  no: '
says '^\* .* ms predicted, workspace [0-9]+ bytes, config '
# and says which solvers spread a NaN.
expect 0 explain --dry-run -n 1 -c 32 -H 14 -W 14 -k 32 -y 3 -x 3 -p 1 -q 1 -F 1
says '^. winograd_fused .* \([a-z ]*\); spreads NaN over tiles, overflows earlier: see --math exact$'
says '^. naive .* config none$'
# shellcheck disable=SC2086
expect 0 explain convfp16 --dry-run --json $seed -F 1
says '"stage":0,"kernel":"[A-Za-z0-9_]+","template":"[a-z0-9_]+.cl",.*"options":".*-D.*"local":"[0-9x]+","global":"[0-9x]+"'
[ "$(grep -c '"chosen":true' out)" -eq 1 ] || fail 'not one solver is chosen'
if grep -vE '^\{"schema":1,"problem":"fwd-f16-n16-.*\}$' out; then
    fail 'a line is not an object'
fi
