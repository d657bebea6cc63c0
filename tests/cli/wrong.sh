#!/bin/sh
# A kernel that computes one element wrongly is caught: status 1, FAILED, and the element.
. "$(dirname "$0")/common"
templates=$(dirname "$0")/../../templates

# sabotage STATEMENT: makes a naive kernel that stores its results with STATEMENT, where \1 is the
# value.
sabotage() {
    rm -rf broken
    mkdir broken
    sed "s/DST_STORE(dst, index, \(FINISH([^;]*)\));/$1/" "$templates/naive/naive.cl" >broken/naive.cl
    if cmp -s broken/naive.cl "$templates/naive/naive.cl"; then
        : >out
        : >err
        fail 'naive.cl has changed: mend the pattern of this test'
    fi
    export KILN_TEMPLATES="$KILN_SANDBOX/broken"
}
caught() {
    # shellcheck disable=SC2086
    expect 1 conv $problem "$@" -V 1 -S naive
    says "^Forward Convolution FAILED: .*, 1 of 2646 elements are wrong\$"
    says 'at \[0,0,2,3\] \(element 17: '
    lacks 'Verifies OK'
}
problem='-n 6 -c 4 -H 9 -W 7 -k 9 -p 0 -q 1 -F 1'

sabotage 'DST_STORE(dst, index, \1 + (index == 17 ? 1e-3f : 0));'
caught
caught --fill uniform
caught --fill int
# shellcheck disable=SC2086
expect 1 conv $problem -S naive --json -i 1
says '"verify":"failed",.*"wrong":1,.*"max_abs_at":17,.*"status":1,'
# shellcheck disable=SC2086
expect 0 conv $problem -S naive -V 0
echo "conv $problem -S naive" | "$KILN_COMMAND" conv --batch - >out 2>err && fail 'the batch is content'
says '^1 problem: 0 ok, 1 failed, 0 unsupported, 0 errors$'

sabotage 'DST_STORE(dst, index, index == 17 ? NAN : \1);'
caught
sabotage 'DST_STORE(dst, index, index == 17 ? INFINITY : \1);'
caught
sabotage 'if (index != 17) { DST_STORE(dst, index, \1); }'
caught
for word in convfp16 convbfp16 convint8; do # an odd number of elements
    expect 1 $word -n 1 -c 4 -H 9 -W 7 -k 9 -p 0 -q 1 -F 1 -V 1 -S naive
    says '^Forward Convolution FAILED: .*, 1 of 441 elements are wrong$'
done

# A search refuses configs whose result is wrong.
# shellcheck disable=SC2086
expect 3 conv $problem -s 1 -S naive
if grep -q 'solver:' rows.yaml 2>/dev/null; then
    fail 'a wrong config was kept'
fi

# Nor may a config pass with what another one left in the result.
echo "conv $problem" >list
KILN_DB=$KILN_SANDBOX/left.yaml expect 0 tune list --solvers direct,naive --trials 4 --seconds 0 --jobs 0
says '^1 tuned, '
verdicts() { sed -n "s/.*\"kind\": \"trial\".*\"solver\": \"$1\".*\"verdict\": \"\([a-z]*\)\".*/\1/p" left.trials.jsonl; }
[ "$(verdicts naive)" = wrong ] || fail "naive: $(verdicts naive)"
verdicts direct | head -n 1 | grep -qx ok || fail "direct: $(verdicts direct)"

# Sums of bytes are exact, so one more is wrong, however long the sum: of a verified result, and of a
# config in a search.
bytes() { head -c "$1" /dev/zero | tr '\0' '\177'; }
integers() { # WORDS...: two results, each a sum of 1041 or 131000 products of 127 x 127
    expect 1 convint8 "$@" -V 1 -S naive
    says ' FAILED: .*, 1 of 2 elements are wrong$'
    KILN_TEMPLATES=$templates expect 0 convint8 "$@" -V 1 -S naive
}
for terms in 1041 131000; do
    bytes $terms >one.raw
    bytes $((2 * terms)) >two.raw
    for off in 1 100; do
        sabotage "DST_STORE(dst, index, \1 + (index == 1 ? $off : 0));"
        integers -n 1 -c $terms -H 1 -W 1 -k 2 -y 1 -x 1 -F 1 -d one.raw -e two.raw
        integers -n 1 -c 2 -H 1 -W 1 -k $terms -y 1 -x 1 -F 2 -D one.raw -e two.raw
        integers -n 1 -c 1 -H 1 -W $terms -k 2 -y 1 -x 1 -F 4 -d one.raw -D two.raw
    done
    expect 3 convint8 -n 1 -c $terms -H 1 -W 1 -k 2 -y 1 -x 1 -F 1 -d one.raw -e two.raw -s 1 -S naive
    if grep -q 'solver:' rows.yaml 2>/dev/null; then
        fail 'a search kept a config that is wrong by one'
    fi
done
