#!/bin/sh
# Real runs of small problems: MIOpen's lines, verification, JSON, CSV, raw files.
. "$(dirname "$0")/common"
# The naive solver's few programs serve every shape, so little is compiled.
small='-n 2 -c 5 -H 9 -W 8 -k 7 -y 3 -x 2 -p 1 -q 1 -S naive'

# The lines that MIOpen's own test scripts look for.
# shellcheck disable=SC2086
expect 0 ./bin/MIOpenDriver conv $small -F 0 -V 1 -t 1 -w 1 -i 3 -b 1
says '^kiln conv -n 2 '
for direction in 'Forward' 'Backward Data' 'Backward Weights'; do
    says "^MIOpen $direction Conv\. Algorithm: [0-9]+, Solution: [0-9]+/[A-Za-z0-9_]+\$"
    says "^GPU Kernel Time $direction Conv\. Elapsed: [0-9]+\.[0-9]+ ms \(average\)\$"
    says "^Wall-clock Time $direction Conv\. Elapsed: [0-9.e+-]+ ms, Auxiliary API calls: "
done
header='stats: name, n, c, ho, wo, x, y, k, flopCnt, bytesRead, bytesWritten, GFLOPs, GB/s, timeMs'
[ "$(grep -cx "$header" out)" -eq 3 ] || fail 'not three headers'
says '^stats: fwd-conv3x2u1, 2, 5, 9, 9, 2, 3, 7,  68040, 3720, 4536, [0-9]+, [0-9]+, [0-9.]+$'
says '^stats: bwdd-conv3x2u1, 2, 5, 9, 9, 2, 3, 7,  68040, 5376, 2880, '
for result in 'Convolution' 'Convolution Data' 'Convolution Weights' 'Convolution Bias'; do
    says "^(Forward|Backward) $result Verifies OK on CPU reference \([0-9.e-]+ < [0-9.e-]+\)\$"
done
says '^    largest error .* all [0-9]+ elements checked$'

# A result that takes longer to check is checked in part.
expect 0 conv -n 1 -c 64 -H 32 -W 32 -k 64 -y 3 -x 3 -S naive --verify-ms 1
says '^    largest error .* a sample of [0-9]+ of 57600 elements checked$'

# Without -t 1 nothing is timed; the bits of -F combine.
# shellcheck disable=SC2086
expect 0 conv $small -F 6
lacks 'Elapsed'
lacks '^Forward'
says '^Backward Convolution Weights Verifies OK'
expect 0 convint8 -n 1 -c 4 -H 5 -W 5 -k 3 -F 1 --fill int -S naive
says 'Verifies OK on CPU reference \(0 < '
expect 0 conv -n 1 -c 4 -H 5 -W 5 -k 3 -F 1 -V 0 -G 1 -S naive
lacks 'Verifies'
expect 0 conv -n 1 -c 4 -H 5 -W 5 -k 3 -F 1 -S 0
says '^Forward Conv solutions available: [1-9]'
says '^- id: [0-9]+ algo: [0-9]+, time: [0-9.e+-]+ ms, ws: [0-9]+, name: naive$'
expect 0 conv -n 1 -c 4 -H 5 -W 5 -k 3 -F 1 -S naive -t 1 -w 2
says '^Warm-up: Wall-clock Total Time: '
says 'Solution: 1000/naive$'

# Every kind of name for a device.
expect 0 --list-devices
index=$(sed -n '1s/ .*//p' out)
name=$(sed -n '1s/^[^"]*"\([^"]*\)".*/\1/p' out)
for device in "$index" "$name" 0; do
    expect 0 conv -n 1 -c 1 -H 3 -W 3 -k 1 -F 1 -S naive --device "$device"
done
expect 2 conv -n 1 --device 'no such device'
warns "^kiln: the device is 'no such device'.*--list-devices"
export KILN_DEVICE='nor this'
expect 2 conv -n 1
warns "^kiln: KILN_DEVICE is 'nor this'"
unset KILN_DEVICE

# JSON: one object per line and nothing else; it has the command that repeats the run.
# shellcheck disable=SC2086
expect 0 conv $small --json -i 2 -F 3 --fill int
[ "$(wc -l <out)" -eq 2 ] || fail 'not two objects'
if grep -vE '^\{"schema":1,("[a-z0-9_]+":("([^"\\]|\\.)*"|-?[0-9.e+-]+|null),?)+\}$' out; then
    fail 'a line is not an object'
fi
says '"problem":"fwd-f32-n2-c5-k7-i9x8-f3x2-p1x1".*"runs":2,.*"verify":"ok",.*"max_abs":0,'
repro=$(sed -n '2s/.*"repro":"kiln \([^"]*\)".*/\1/p' out)
# shellcheck disable=SC2086
expect 0 $repro --json -i 2
[ "$(wc -l <out)" -eq 1 ] || fail 'the repro line repeats something else'
says '"problem":"bwd-f32-n2-c5-k7-i9x8-f3x2-p1x1".*"status":0,"error":null,"repro":"kiln '
expect 2 conv --json -y 40
says '^\{"schema":1,"problem":null,.*"status":2,"error":"the filter is larger'
# shellcheck disable=SC2086
LC_ALL=de_DE.UTF-8 expect 0 conv $small --csv -i 2 -F 3
[ "$(wc -l <out)" -eq 3 ] || fail 'not a header and two lines'
[ "$(grep -c '^schema,problem,' out)" -eq 1 ] || fail 'not one header'

# MIOpen's vectorized tensors are blocks of channels.
expect 0 convint8 -n 1 -c 6 -H 5 -W 7 -k 5 -y 3 -x 3 -F 1 -Z 1 --json
says '"problem":"fwd-i8-n1-c6-k5-i5x7-f3x3-l:NCHW4c.OIHW4i.NCHW"'
expect 0 convfp16 -n 1 -c 6 -H 5 -W 7 -k 5 -y 3 -x 3 -F 1 -I NCHWc -L 8 --json
says '"problem":"fwd-f16-n1-c6-k5-i5x7-f3x3-l:NCHW8c.OIHW8i.NCHW8c"'
expect 2 conv -Z 1 -L 4
warns '^kiln: --tensor_vect 1 means --vector_length 4'

# Raw files: dumped, read back, refused when the size is wrong; all or none.
# shellcheck disable=SC2086
expect 0 conv $small -F 0 -o 1 -b 1 --seed 7
for file in in wei bias dout fwd_out_gpu fwd_out_cpu bwd_din_gpu bwd_din_cpu bwd_dwei_gpu \
    bwd_dwei_cpu bwd_db_gpu bwd_db_cpu; do
    [ -s "dump_$file.bin" ] || fail "dump_$file.bin is missing"
done
[ "$(wc -c <dump_in.bin)" -eq 2880 ] || fail 'dump_in.bin has another size'
mkdir again
cd again
# shellcheck disable=SC2086
expect 0 conv $small -F 1 -o 1 -b 1 -d ../dump_in.bin -e ../dump_wei.bin -a ../dump_bias.bin
cmp dump_fwd_out_gpu.bin ../dump_fwd_out_gpu.bin || fail 'the same tensors gave another result'
rm dump_*
mkdir dump_wei.bin # cannot be replaced by a file
# shellcheck disable=SC2086
expect 5 conv $small -F 1 -o 1
warns '^kiln: dump_wei.bin: '
rmdir dump_wei.bin
[ -z "$(ls -A | grep -v '^out$\|^err$')" ] || fail "files were left: $(ls -A)"
cd ..
# shellcheck disable=SC2086
expect 5 conv $small -F 1 -d dump_wei.bin
warns '^kiln: --in_data dump_wei.bin holds 840 bytes; 720 elements of f32 take 2880$'
# shellcheck disable=SC2086
expect 5 conv $small -F 1 -d missing.bin
warns 'missing.bin: No such file'

# Quantised tensors: scales from a file, which must have a float for each channel, zero points, and the
# types of bytes. A backward direction has none.
layer='-n 1 -c 5 -H 7 -W 6 -k 4 -y 3 -x 3 -p 1 -q 1'
printf '\000\000\200\077\000\000\000\077\000\000\000\100\000\000\200\076' >scales
# shellcheck disable=SC2086
expect 0 convint8 $layer -F 1 --x_type u8 --out_type u8 --x_scale 0.02 --y_scale 3 --x_zero 128 \
    --y_zero 5 --w_zero 2 --w_scales scales --bias 1 --bias_type i32 -S naive -V 1
says 'Forward Convolution Verifies OK'
# shellcheck disable=SC2086
expect 0 convint8 $layer -F 1 --out_type i8 --w_scales uniform --rounding twice -S naive -V 1
says 'Forward Convolution Verifies OK on CPU reference \(0 '
# shellcheck disable=SC2086
expect 5 convint8 $layer -k 5 -F 1 --out_type f32 --w_scales scales
warns '^kiln: --w_scales scales: the problem needs a file of 20 bytes'
# shellcheck disable=SC2086
expect 2 convint8 $layer -F 2 --x_zero 3
warns 'belong to the forward direction'
# shellcheck disable=SC2086
expect 2 conv $layer -F 1 --x_zero 3
warns 'quant.x_zero belongs to a tensor of i8 or u8, not of f32'

# Three tensors, each the largest that the device takes, in a process without memory for one of
# them: kiln refuses before it makes them. Not every driver starts with so little memory.
layer='-c 16 -H 256 -W 256 -k 16 -y 3 -x 3 -p 1 -q 1 -F 1 --beta 1'
# shellcheck disable=SC2086
expect 3 conv -n 100000000 $layer
warns "^unsupported: tensor x needs [0-9]+ bytes, but the device's largest buffer is [0-9]+\$"
most=$(sed -n 's/.*largest buffer is //p' err)
(
    ulimit -v "$((most / 1024))"
    # shellcheck disable=SC2086
    "$KILN_COMMAND" conv -n 1 $layer -V 1 >out 2>err || exit 0
    for batch in 1 $((most / (16 * 256 * 256 * 4))); do
        for flag in '-V 1' '-s 1'; do
            # shellcheck disable=SC2086
            expect 3 conv -n "$batch" $layer -S 13 $flag
            warns '^unsupported: solver ConvOclDirectFwd1x1: it needs a 1x1 filter'
            # shellcheck disable=SC2086
            expect 2 conv -n "$batch" $layer -S 12345 $flag
            warns '^kiln: there is no solver "12345"'
        done
    done
)
