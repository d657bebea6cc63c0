#!/bin/sh
# kiln tune goes on: however soon it is killed, each run tries something new, and the problem ends; what a
# crash restarts tries no more than --trials says.
. "$(dirname "$0")/common"
log=rows.trials.jsonl
echo 'conv -n 1 -c 16 -H 6 -W 6 -k 16 -y 1 -x 1 -F 1' >list
lines() { if [ -f "$log" ]; then grep -c '"kind": "trial"' "$log" || true; else echo 0; fi; }
tried() { sed -n '/"kind": "trial"/s/.*"solver": "\([^"]*\)".*"config": "\([^"]*\)".*/\1 \2/p' "$log" | sort -u | wc -l; }

# Each run is killed with its first trial in the log.
trials=8
set -- list --solvers direct,13,naive --trials $trials --seconds 0 --jobs 0
kills=0
while [ "$kills" -lt $((trials - 1)) ]; do
    before=$(lines)
    "$KILN_COMMAND" tune "$@" >out 2>err &
    run=$!
    waits=0
    while [ "$(lines)" -le "$before" ] && kill -0 "$run" 2>/dev/null; do
        waits=$((waits + 1))
        [ "$waits" -lt 1200 ] || fail 'a run tried nothing'
        sleep 0.02
    done
    kill -s KILL "$run" 2>/dev/null || break
    wait "$run" 2>/dev/null || true
    kills=$((kills + 1))
    [ "$(tried)" -ge $((kills < trials ? kills : trials)) ] || fail "$kills kills left $(tried) configs"
done
expect 0 tune "$@"
says '^1 tuned, 0 tuned before, 0 failed, 0 left; '
[ "$(tried)" -eq $trials ] || fail "$(tried) configs were tried, not $trials"
[ "$(lines)" -eq $trials ] || fail "the log has $(lines) trials of $trials"
echo "$kills kills"

# A run that is interrupted keeps no slower row than the log has.
expect 0 tune list --solvers direct --trials 12 --seconds 0 --jobs 0
sed -i '/"kind": "search"/d' $log
rm rows.yaml
"$KILN_COMMAND" tune list --solvers direct --seconds 0 --jobs 0 >out 2>err &
run=$!
before=$(lines)
waits=0
until [ "$(lines)" -gt "$before" ]; do
    waits=$((waits + 1))
    [ "$waits" -lt 1200 ] || fail 'the run did not start'
    sleep 0.02
done
kill -s INT "$run" 2>/dev/null || true
status=0
wait "$run" || status=$?
[ "$status" -eq 130 ] || fail "a run that SIGINT ended gave $status"
least=$(sed -n '/"verdict": "\(ok\|slow\)"/s/.*"solver": "direct".* "ms": \([^,]*\), .*/\1/p' $log | sort -g | head -1)
kept=$(sed -n 's/^- {.* ms: \([^,]*\),.*/\1/p' rows.yaml | tail -1)
awk -v kept="$kept" -v least="$least" 'BEGIN { exit !(kept > 0 && kept <= 1.0001 * least) }' ||
    fail "the row has $kept ms, and the log $least"

# A worker that a config ends is replaced, and the trials stay as many as were asked for.
[ "${KILN_DEVICE:-}" = cpu ] || exit 0
templates=$(dirname "$0")/../../templates
mkdir planted
awk '/^kernel .*void naive\(/ { k = 1 } { print } k && /^\{/ { print "*(volatile global int *)1 = 1;"; k = 0 }' \
    "$templates/naive/naive.cl" >planted/naive.cl
for restart in '' --fresh; do
    : >$log
    # shellcheck disable=SC2086
    KILN_TEMPLATES=$PWD/planted expect 0 tune list --solvers naive,direct,13 --trials 8 --seconds 0 --jobs 0 $restart
    says '^8 trials in .*, 1 crashed'
    [ "$(lines)" -eq 8 ] || fail "the log has $(lines) trials of 8"
    [ "$(tried)" -eq 8 ] || fail "$(tried) configs were tried, not 8"
done
