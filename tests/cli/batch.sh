#!/bin/sh
# Files of problems: every kind of line, a bad one named, one summary.
. "$(dirname "$0")/common"

cat >list <<'TEXT'
# a comment, then a blank line

./bin/MIOpenDriver conv -n 1 -c 4 -H 5 -W 5 -k 3 -F 1
MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver convfp16 -n 1 -c 2 -H 4 -W 4 -k 3 -F 3
conv -n 0
fwd-f32-n1-c4-k3-i6x7-f1x1
mb1ic3ih8oc4oh8kh3ph1n"conv1"
utter nonsense
conv -n 1 -c 1 -H 4 -W 4 -k 1 -r 1
# name N C H W K R S pad_h pad_w stride_h stride_w dil_h dil_w groups
layer*3 1 4 6 5 8 3 3 1 1 1 1 1 1 2
TEXT

# The naive solver's few programs serve every shape, so little is compiled.
expect 3 conv --batch list -V 1 -S naive
warns '^kiln: list line 5: --batchsize \(-n\) is .0.; '
warns '^kiln: list line 8: '
warns '^unsupported: list line 9: '
says '^kiln conv -F 1 -n 1 -c 4 -H 5 -W 5 -k 3 -S naive$'
says '^kiln conv --problem fwd-f32-n1-c4-k3-i6x7-f1x1 -S naive$'
says '^kiln conv --problem fwd-f32-n1-c3-k4-i8x8-f3x3-p1x1 -F 7 -S naive  # conv1$'
says '^8 problems: 5 ok, 0 failed, 1 unsupported, 2 errors$'
[ "$(grep -c 'Verifies OK' out)" -eq 10 ] || fail 'not ten results'

# Defaults, standard input, --start, --match; only objects on standard output.
status=0
"$KILN_COMMAND" conv --batch - --start 9 --match layer -F 1 --json -i 1 -S naive <list >out 2>err || status=$?
[ "$status" -eq 0 ] || fail "a chosen line gave $status"
[ "$(wc -l <out)" -eq 1 ] || fail 'not one object'
says '"problem":"fwd-f32-n1-c4-k8-i6x5-f3x3-p1x1-g2"'
warns '^1 problem: 1 ok, 0 failed, 0 unsupported, 0 errors$'
expect 0 conv --batch list --match i6x7 --dry-run
says '^1 problem: 1 ok'
expect 0 conv --batch list --device cpu --start 3 --match '-c 4' --dry-run
for flag in '--device cpu' --json --csv '--trace t.json' '--match x' '--start 2'; do
    echo "conv -n 1 -c 4 -H 5 -W 5 -k 3 $flag" >flags
    expect 2 conv --batch flags --dry-run
    warns "^kiln: flags line 1: ${flag%% *} is for the whole file; give it beside --batch$"
    lacks '^\{|^schema'
done
echo 'conv -n 1 -c 4 -H 5 -W 5 -k 3 --json' >flags
expect 0 conv --batch flags --json --dry-run
expect 0 conv --batch list --match conv1 --max-batchsize 1 --dry-run
lacks '^Info'
expect 0 conv -n 7 -F 1 --max-batchsize 2 --dry-run -P 1
says "^Info: a batch of 7 is cut to 2 by '--max-batchsize'\$"
says '^problem            fwd-f32-n2-'

# A selection that leaves nothing, or a file that has nothing, is no success.
: >nothing
for flags in '--match nosuch --start 9' '--match nosuch' '--start 99'; do
    expect 2 conv --batch list $flags --dry-run
    said=$(grep '^kiln: --batch list: no convolution was found: ' err) || fail "$flags: no reason"
    for word in $flags; do
        case $said in *"$word"*) ;; *) fail "$flags: \"$said\"" ;; esac
    done
    says '^0 problems: '
    expect 2 tune list $flags --dry-run
    warns "^kiln tune: ${said#kiln: --batch list: }$"
done
expect 2 conv --batch nothing --json
warns '^kiln: --batch nothing: no convolution was found$'
expect 2 tune nothing --dry-run
warns '^kiln tune: no convolution was found$'
expect 2 tune list --match i6x7 --types f16 --dry-run
warns "^kiln tune: no convolution was found: --match is 'i6x7'; --types is 'f16'\$"

# A file from another system: a byte order mark, carriage returns, no newline at its end. The rest
# of a line after a zero byte, as UTF-16 has many, is not ignored.
printf '\357\273\277conv -n 2 -F 1\r\n\r\nconv -n 3 -F 1' >foreign
expect 0 conv --batch foreign --dry-run
says '^kiln conv -F 1 -n 3 --dry-run$'
says '^2 problems: 2 ok, '
printf 'conv -n 2 -F 1\000 -c 5\n\000\nconv -n 3 -F 1\n' >zeros
expect 2 conv --batch zeros --dry-run
warns '^kiln: zeros line 1: the line has a zero byte; '
warns '^kiln: zeros line 2: the line has a zero byte; '
lacks '-n 2'
says '^3 problems: 1 ok, 0 failed, 0 unsupported, 2 errors$'

# A raw log: commands of any kind run, everything else is counted once at the end.
cp "$KILN_TEST_DATA/lists/raw_log.txt" log
expect 2 conv --batch log --dry-run
says '^kiln conv -F 1 -n 2 -c 4 -H 5 -W 5 -k 3 --dry-run$'
says '^kiln conv -F 1 -n 7 -c 4 -H 5 -W 5 -k 3 --dry-run$'
says '^kiln convbfp16 --problem fwd-bf16-n1-c16-k16-i8x8-f3x3-p1x1-t:bf16.bf16.f32-l:NHWC.OIHW.NCHW16c-r1-act:relu-exact -F 1 --dry-run  # name$'
says '^kiln convfp16 --problem wrw-f16-n2-c16-k16-i8x8-f3x3-p1x1-bias -F 6 --dry-run$'
says '^kiln convint8 --problem fwd-i8-n2-c16-k16-i8x8-f3x3-p1x1-t:i8.i8.i8-bias -F 1 --dry-run$'
says '^skipped, no convolutions: 1 bnormfp16, 1 CBAInfer, 1 pool, 1 reorder, 1 --matmul$'
says '^skipped, lines of a log that name no problem: 6, the first is line 1$'
says '^kiln convint8 --problem fwd-u8-n2-c16-k16-i8x8-f3x3-p1x1 -F 1 --dry-run$'
says '^17 problems: 16 ok, 0 failed, 0 unsupported, 1 error$'
warns '^kiln: log line 21: not followed: --mode=P$'

# What would make another problem of a benchdnn line makes it unsupported; post-ops that kiln has, and
# deconvolutions, run. A command may stand anywhere in a line.
cat >onednn <<'EOF'
$ ./benchdnn --conv --dir=FWD_D --attr-post-ops=sum:0.25+swish:1 mb1ic16ih8oc16oh8kh3ph1
run: numactl -N 0 C:\one\benchdnn.exe --conv --dir=FWD_D --attr-post-ops=clip:0:6 mb1ic16ih8oc16oh8kh3ph1
> benchdnn --deconv --dir=FWD_D --wtag=abcd mb1ic16ih8oc8oh15kh3sh2ph1 $MORE
benchdnn --conv --dir=FWD_D --wtag=Abcde16a g20mb1ic20ih8oc20oh8kh3ph1 && benchdnn --conv --dir=FWD_D --attr-post-ops=tanhshrink mb1ic16ih8oc16oh8kh3ph1
benchdnn --conv --dir=FWD_D --attr-scales=src:per_oc:2 mb1ic16ih8oc16oh8kh3ph1
EOF
expect 3 conv --batch onednn -i 1
says 'fwd-f32-n1-c16-k16-i8x8-f3x3-p1x1-r0.25-act:silu '
says 'fwd-f32-n1-c16-k16-i8x8-f3x3-p1x1-act:clipped_relu:6 '
says 'fwd-f32-n1-c16-k8-i8x8-f3x3-s2x2-p1x1-trans-l:NCHW.IOHW.NCHW '
says 'fwd-f32-n1-c20-k20-i8x8-f3x3-p1x1-g20-l:NCHW.OIHW16o.NCHW '
says '^6 problems: 4 ok, 0 failed, 2 unsupported, 0 errors$'
warns '^unsupported: onednn line 4: kiln does not follow --attr-post-ops=tanhshrink, '
warns '^unsupported: onednn line 5: kiln does not follow --attr-scales=src:per_oc:2, '
expect 0 'C:\bin\MIOpenDriver.exe' conv -n 1 -F 1 --dry-run

expect 5 conv --batch nowhere
warns '^kiln: --batch nowhere: No such file'
