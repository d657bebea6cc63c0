#!/bin/sh
# Tuning: the winner is kept and used; Ctrl-C keeps the best so far.
. "$(dirname "$0")/common"
export KILN_CACHE_DIR="$KILN_SANDBOX/programs"
problem='-n 1 -c 16 -H 4 -W 4 -k 16 -y 1 -x 1 -F 1'

# shellcheck disable=SC2086
expect 0 conv $problem -s 1 -S 13 --limit-ms 3000
if grep -q warning err; then fail 'a search warned that there is no file of rows yet'; fi
says '^search: [0-9]+ configs? tried in .*; best .* of ConvOclDirectFwd1x1; kept in .*rows.yaml$'
says '^config .* of ConvOclDirectFwd1x1 found by this search$'
says 'Verifies OK'
grep -q 'fwd-f32-n1-c16-k16-i4x4-f1x1.*ConvOclDirectFwd1x1' rows.yaml || fail 'no row was kept'
# shellcheck disable=SC2086
expect 0 conv $problem -S 13
says '^config .* of ConvOclDirectFwd1x1 from the user.s tuning rows .*rows.yaml$'

# A row of one solver does not decide among all solvers, whatever its time.
sed -i 's/, ms: [0-9.e-]*/, ms: 1000/' rows.yaml
# shellcheck disable=SC2086
expect 0 conv $problem
warns 'rows.yaml:[0-9]+: the row of fwd-f32-n1-c16-k16-i4x4-f1x1 does not decide: its search could not choose .*naive'
says '^config .* guessed'
export KILN_DB=off
# shellcheck disable=SC2086
expect 0 conv $problem -S 13
says '^config .* guessed'

# A solver without parameters is printed alone, wherever the best config is.
# shellcheck disable=SC2086
expect 0 conv $problem -s 1 -S naive
warns '^search 1/1, trying naive; best [0-9.e-]+ ms: naive$'
says '^search: 1 config tried in .*; best [0-9.e-]+ ms: naive; not kept: tuning rows are off$'

# When the disk is full the row is lost, but its contents are printed. Files may have 1 MiB here.
export KILN_DB="$KILN_SANDBOX/full.yaml"
head -n 4 rows.yaml >full.yaml
awk -v room=$((1048576 - $(wc -c <full.yaml))) \
    'BEGIN { for (; room > 80; room -= 80) printf "#%78s\n", "" }' >>full.yaml
if (
    trap '' 25 # ignore SIGXFSZ, so that writing fails
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

# A search that is interrupted after its first good config keeps that and says so; with --json on
# standard error, as there is no result.
for signal in INT TERM; do
    export KILN_DB="$KILN_SANDBOX/$signal.yaml"
    : >err # the loop below may read it before the search has begun
    json=
    [ $signal = INT ] || json=--json
    "$KILN_COMMAND" conv -n 4 -c 64 -H 28 -W 28 -k 64 -y 3 -x 3 -F 1 -s 1 $json >out 2>err &
    search=$!
    waits=0
    until grep -q '^search [0-9]*/[0-9]*, trying .* best' err; do
        kill -0 "$search" 2>/dev/null || fail 'the search ended by itself'
        waits=$((waits + 1))
        [ "$waits" -lt 600 ] || fail 'the search did not start'
        sleep 0.1
    done
    kill -s "$signal" "$search"
    status=0
    wait "$search" || status=$?
    [ "$status" -eq 130 ] || fail "a search that SIG$signal ended gave $status"
    [ $signal = INT ] || { silent out; cp err out; }
    says '^search: .*, interrupted; best '
    grep -q 'fwd-f32-n4-c64-k64-i28x28-f3x3' "$signal.yaml" || fail "SIG$signal left no row"
done
