#!/bin/sh
# -C keeps the reference's results: one file for the same data, reused, replaced when damaged.
. "$(dirname "$0")/common"

run() { expect "$1" conv -n 2 -c 5 -H 9 -W 7 -k 6 -F 1 -S naive -C refs "$2" "$3"; }

run 0 --seed 1
says 'Forward Convolution Verifies OK'
name=$(ls refs)
case $name in
conv_fwd_out_conv_2_default_1_2x5x9x7_6x5x3x3_0x0_1x1_1x1_0_0_GPUfloat_REFdouble_*) ;;
*) fail "the file is called $name" ;;
esac
cp "refs/$name" first

# A -C that is no folder is refused at once.
expect 5 conv -n 2 -c 5 -H 9 -W 7 -k 6 -F 1 -S naive -C "refs/$name"
warns "^kiln: --verification_cache \(-C\) refs/conv_.*: Not a directory; name a folder$"

# The same data use the same file; other data another one.
run 0 --seed 1
cmp -s "refs/$name" first || fail 'the stored results changed'
run 0 --seed 2
[ "$(ls refs | wc -l)" -eq 2 ] || fail 'other data did not get a file of their own'

# A damaged file is computed again and replaced.
printf 'x' | dd of="refs/$name" bs=1 seek=100 conv=notrunc 2>/dev/null
run 0 --seed 1
says 'Verifies OK'
cmp -s "refs/$name" first || fail 'a damaged file was not replaced'
head -c 50 first >"refs/$name"
run 0 --seed 1
cmp -s "refs/$name" first || fail 'a short file was not replaced'

# The key decides: under the name of seed 1 the file of seed 2 has a good checksum, so that only the
# key tells that its results are of other data.
for f in refs/*; do [ "$f" = "refs/$name" ] || cp "$f" "refs/$name"; done
run 0 --seed 1
cmp -s "refs/$name" first || fail 'a file of other data was believed'
