#!/bin/sh
# Tuning: the winner is kept and used; Ctrl-C keeps what there is.
. "$(dirname "$0")/common"
export KILN_CACHE_DIR="$KILN_SANDBOX/programs"
problem='-n 1 -c 16 -H 4 -W 4 -k 16 -y 1 -x 1 -F 1'

# shellcheck disable=SC2086
expect 0 conv $problem -s 1 -S 13 --limit-ms 3000
if grep -q warning err; then fail 'that the file was not there yet is no news to a search'; fi
says '^search: [0-9]+ configs? tried in .*; best .* of ConvOclDirectFwd1x1; kept in .*rows.yaml$'
says '^config .* of ConvOclDirectFwd1x1 found by this search$'
says 'Verifies OK'
grep -q 'fwd-f32-n1-c16-k16-i4x4-f1x1.*ConvOclDirectFwd1x1' rows.yaml || fail 'no row was kept'
# shellcheck disable=SC2086
expect 0 conv $problem -S 13
says '^config .* of ConvOclDirectFwd1x1 from the user.s tuning rows .*rows.yaml$'

# Of all solvers it says nothing, whatever time it has.
sed -i 's/, ms: [0-9.e-]*/, ms: 1000/' rows.yaml
# shellcheck disable=SC2086
expect 0 conv $problem
warns 'rows.yaml: the row of fwd-f32-n1-c16-k16-i4x4-f1x1 does not decide: its search could not choose .*naive'
says '^config .* guessed'
export KILN_DB=off
# shellcheck disable=SC2086
expect 0 conv $problem -S 13
says '^config .* guessed'

# A solver without parameters is named alone, wherever the best is told.
# shellcheck disable=SC2086
expect 0 conv $problem -s 1 -S naive
warns '^search 1/1, trying naive; best [0-9.e-]+ ms: naive$'
says '^search: 1 config tried in .*; best [0-9.e-]+ ms: naive; not kept: tuning rows are off$'

# A disk that is full in the end costs the row, not what was learned. Files may be 1 MiB here.
export KILN_DB="$KILN_SANDBOX/full.yaml"
head -n 4 rows.yaml >full.yaml
awk -v room=$((1048576 - $(wc -c <full.yaml))) \
    'BEGIN { for (; room > 80; room -= 80) printf "#%78s\n", "" }' >>full.yaml
if (
    trap '' 25 # SIGXFSZ: writing fails instead
    ulimit -f 2048
) 2>/dev/null; then
    (
        trap '' 25
        ulimit -f 2048
        # shellcheck disable=SC2086
        expect 5 conv $problem -s 1 -S naive
        warns 'cannot write tuning rows to .*full.yaml: .*; the best was [0-9.e-]+ ms: naive$'
    )
fi

# Ended once it has something to keep, which it says.
for signal in INT TERM; do
    export KILN_DB="$KILN_SANDBOX/$signal.yaml"
    : >err # which is looked at below, maybe before the search has begun
    "$KILN_COMMAND" conv -n 4 -c 64 -H 28 -W 28 -k 64 -y 3 -x 3 -F 1 -s 1 >out 2>err &
    search=$!
    waits=0
    until grep -q '^search [0-9]*/[0-9]*, trying .* best' err; do
        kill -0 "$search" 2>/dev/null || fail 'the search ended by itself'
        waits=$((waits + 1))
        [ "$waits" -lt 600 ] || fail 'the search never got going'
        sleep 0.1
    done
    kill -s "$signal" "$search"
    status=0
    wait "$search" || status=$?
    [ "$status" -eq 130 ] || fail "a search that SIG$signal ended gave $status"
    says '^search: .*, interrupted; best '
    grep -q 'fwd-f32-n4-c64-k64-i28x28-f3x3' "$signal.yaml" || fail "SIG$signal left no row"
done
