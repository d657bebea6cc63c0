#!/bin/sh
# `kiln layout`: the page of docs, the output of show, raw files converted on host and device.
set -eu
: "${KILN_COMMAND:?}" "${KILN_SANDBOX:?}"
root=$(cd "$(dirname "$0")/../.." && pwd)
rm -rf "$KILN_SANDBOX"
mkdir -p "$KILN_SANDBOX"
cd "$KILN_SANDBOX"

fail() {
    echo "layout: $1" >&2
    cat out err >&2
    exit 1
}
expect() { # status, then the words after "kiln layout"
    wanted=$1
    shift
    status=0
    "$KILN_COMMAND" layout "$@" >out 2>err || status=$?
    [ "$status" -eq "$wanted" ] || fail "'$*' gave $status, not $wanted"
}
says() { grep -qF -- "$1" "$2" || fail "'$1' is missing from $2"; }
holds() { # file, its bytes as printf writes them
    printf "$2" | cmp -s - "$1" || fail "$1 is not $2"
}

# docs/layouts.md is up to date.
expect 0 docs
cmp -s out "$root/docs/layouts.md" ||
    fail 'docs/layouts.md is stale: kiln layout docs >docs/layouts.md'
expect 0 list
[ "$(grep -c . out)" -eq "$(($(grep -c '^LAYOUT(' "$root/generator/layout/layouts.def") + 1))" ] ||
    fail 'list does not have a line for each layout'

expect 0 show kHWC8
says "offset = ((n*H+h)*W+w)*C'+c" out
says "C' = C rounded up to a multiple of 8" out
expect 0 show IN_OUT_HEIGHT --dims 2,3,5,2
says 'image     6 x 4 pixels' out
says 'cells     96, 36 of them padding' out
says 'py/2, c = px/2, h = py%2*4+lane, w = px%2' out
says 'row 1:  8  .  .  . |' out
expect 0 show NC/4HW4 --dims 1,3,1,2 --type i8 --json
says '"storage_dims":[1,1,1,2,4],"cells":8,"padding":2,"bytes":8,"strides":[8,null,8,4]' out
says '"offset":"(((n*1+c/4)*1+h)*2+w)*4+c%4"}' out
expect 0 show OIHW4i --order OIHW --dims 5x3x1x1
expect 0 show NCHW --dims 2,3,5,8192 --profile dla
expect 3 show NCHW --dims 2,3,5,8193 --profile dla --json
says '"accepted":false' out
says '[1, 8192], not 8193' err
expect 2 show NCHW --dims 2,3,5
says 'has the 4 dims NCHW' err
expect 2 show NCHW --dims 2,3,5,0
says 'dim W is 0' err
expect 2 show NCHW --dims 2,3,5,
expect 2 show NCHW --dims 2,3,5,99999999999999999999
expect 2 show NCHW --dims 9999999999,9999999999,5,7
says 'overflow' err
expect 2 show nonsense
says 'nonsense' err
expect 2 show NCHW --type f64
expect 2 show NCHW --dims 2,3,5,7 --profile xyz
expect 2 show NCHW --profile dla

# Tensors so small that their bytes are written here.
convert() { expect 0 convert --dims 1,2,1,3 --type i8 "$@"; }
printf 'abcdef' >plain
for where in --host --device=; do
    convert $where --from NCHW --to NHWC plain nhwc
    holds nhwc adbecf
    convert $where --from NHWC --to NCHW nhwc back
    holds back abcdef
    convert $where --from NCHW --to NC/4HW4 plain blocks
    holds blocks 'ad\000\000be\000\000cf\000\000'
    convert $where --from NCHW --to 'NH|CW|4c' --pad 33 plain image
    holds image 'ad!!be!!cf!!'
    convert $where --from 'NH|CW|4c' --to NHWC image nhwc
    holds nhwc adbecf
    convert $where --from NCHW --to NHWC --to-type f16 plain half
    holds half '\020\126\100\126\040\126\120\126\060\126\140\126'
done

# Larger tensors: device and host agree, and converting back gives the original.
head -c 30030 "$KILN_COMMAND" >long
for to in NHWC NC/32HW32 IMG_WIDTH_MAJOR 'HWNC;C%4'; do
    for type in f32 f16; do
        expect 0 convert --dims 2,33,35,13 --type i8 --to-type $type --from NCHW --to "$to" long a
        expect 0 convert --dims 2,33,35,13 --type i8 --to-type $type --from NCHW --to "$to" --host long b
        cmp -s a b || fail "device and host differ: $to $type"
        expect 0 convert --dims 2,33,35,13 --type $type --to-type i8 --from "$to" --to NCHW a c
        cmp -s c long || fail "not back from $to $type"
    done
done

# Names with D, and without H, have their own dims.
convert() { expect 0 convert --type i8 "$@"; }
printf 'abcdefghijkl' >volume
for where in --host --device=; do
    convert $where --dims 1,3,1,2,2 --from NCDHW --to NDHWC volume a
    holds a aeibfjcgkdhl
    convert $where --dims 1,3,1,2,2 --from NDHWC --to NCDHW a back
    cmp -s volume back || fail 'not back from NDHWC'
    convert $where --dims 1,3,1,2,2 --from NCHW --to ndhwc volume a
    holds a aeibfjcgkdhl
    convert $where --dims 1,3,1,2,2 --from kDHWC --to kNCHW a back
    cmp -s volume back || fail 'not back from kDHWC'
    convert $where --dims 1,3,4 --from NCW --to NWC volume a
    holds a aeibfjcgkdhl
    convert $where --dims 1,3,4 --from NWC --to NCW a back
    cmp -s volume back || fail 'not back from NWC'
    convert $where --dims 1,3,2,1,2 --from OIDHW --to ODHWI volume a
    holds a aeibfjcgkdhl
    convert $where --dims 1,3,4 --from OIW --to OWI volume a
    holds a aeibfjcgkdhl
    # The golden cases of three spatial dims, from their plain order.
    grep '"dims_order":"NCDHW"' "$KILN_TEST_GOLDEN/layout.jsonl" | grep '"index1"' >cases
    [ -s cases ] || fail 'no golden cases'
    while read -r line; do
        name=$(printf %s "$line" | sed 's/.*"layout":"\([^"]*\)".*/\1/')
        dims=$(printf %s "$line" | sed 's/.*"dims":\[\([^]]*\)\].*/\1/')
        count=$(($(echo "$dims" | tr , '*')))
        i=1
        while [ $i -le $count ]; do printf "\\$(printf %o $i)"; i=$((i + 1)); done >plain3
        printf %s "$line" | sed 's/.*"storage":\[\([^]]*\)\].*/\1/' | tr , '\n' >wanted; echo >>wanted
        convert $where --dims "$dims" --from NCDHW --to "$name" plain3 a
        od -An -v -t u1 -w1 a | tr -d ' ' | diff - wanted >/dev/null || fail "$name is not golden"
        convert $where --dims "$dims" --from "$name" --to NCDHW a back
        cmp -s plain3 back || fail "not back from $name"
    done <cases
done
expect 0 show NCDHW --dims 1,2,3,4,5
says 'layout    NCDHW' out
says 'N=1 C=2 D=3 H=4 W=5' out
expect 0 show nwc --dims 1,2,5
says 'N=1 C=2 W=5' out
expect 2 show NCDHW --dims 1,2,3,4
says 'has the 5 dims NCDHW' err

# Wrong files: nothing is written.
rm -f no out_of_nowhere
expect 5 convert --dims 1,2,1,3 --type i8 --from NCHW --to NHWC no out_of_nowhere
expect 5 convert --dims 1,2,1,4 --type i8 --from NCHW --to NHWC plain out_of_nowhere
says 'plain holds 6 bytes' err
says 'takes 8' err
expect 5 convert --dims 1,2,1,2 --type i8 --from NCHW --to NHWC plain out_of_nowhere
expect 5 convert --dims 1,2,1,3 --from NCHW --to NHWC plain out_of_nowhere
expect 5 convert --dims 1,2,1,3 --type i8 --from NCHW --to NHWC plain no/such/place
expect 5 convert --dims 1,2,1,3 --type i8 --from NCHW --to NHWC --host . out_of_nowhere
printf 'abcdefg' | "$KILN_COMMAND" layout convert --dims 1,2,1,3 --type i8 --from NCHW --to NHWC \
    --host /dev/stdin out_of_nowhere 2>err && fail 'a pipe that is too long was taken'
[ ! -e out_of_nowhere ] || fail 'something was written'
expect 3 convert --dims 1,2,1,3 --type i8 --to-type bf16 --from NCHW --to 'NH|CW|4c' plain nhwc
holds nhwc adbecf
expect 2 convert --dims 1,2,1,3 --type i8 --from NCHW --to OIHW plain out_of_nowhere
expect 2 convert --dims 1,2,3 --type i8 --from NCHW --to NHWC plain out_of_nowhere
expect 2 convert --from NCHW --to NHWC plain out_of_nowhere
expect 2 convert --dims 1,2,1,3 --type i8 --from NCHW --to NHWC plain
expect 2 convert --dims 1,2,1,3 --type i8 --from NCHW --to NHWC --pad x plain out_of_nowhere
expect 0 convert --dims 1,2,1,3 --type i8 --from NCHW --to NHWC --host plain plain
holds plain adbecf
[ -z "$(ls | grep tmp || true)" ] || fail 'a temporary file was left behind'

expect 0 --help
expect 2
expect 2 shwo
expect 2 list all
expect 2 show NCHW --what
