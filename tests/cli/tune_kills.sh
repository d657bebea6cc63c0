#!/bin/sh
# kiln tune under SIGKILL at random moments: the same command goes on, no row is lost, the files always
# load. KILLS (4) is how often; tests/portability/kills.sh does it 200 times.
. "$(dirname "$0")/common"
export KILN_CACHE_DIR="$KILN_SANDBOX/programs"
kills=${KILLS:-4}
for size in 4 5 6 7 8 9; do
    echo "conv -n 1 -c 16 -H $size -W $size -k 16 -y 1 -x 1 -F 1"
done >list
set -- list --solvers naive,13,direct --trials 5 --seconds 0

lines() { if [ -f rows.trials.jsonl ]; then wc -l <rows.trials.jsonl; else echo 0; fi; }
keys() { [ ! -f rows.yaml ] || sed -n 's/^- {key: "\([^"]*\)".*}$/\1/p' rows.yaml | sort -u; }
expect 0 tune "$@" --dry-run
sed 's/  # .*//' out | sort >wanted
: >before
done=0 ended=0
while [ "$done" -lt "$kills" ]; do
    fresh=
    [ "$ended" -eq 0 ] || fresh=--fresh
    "$KILN_COMMAND" tune "$@" $fresh >out 2>err &
    run=$!
    # Some moments lie anywhere, some behind a trial or two.
    lines=$(($(lines) + done % 4))
    waits=0
    while [ "$(lines)" -lt "$lines" ] && [ "$waits" -lt 100 ] && kill -0 "$run" 2>/dev/null; do
        waits=$((waits + 1))
        sleep 0.05
    done
    sleep "$(awk -v seed="${SEED:-1}$done" 'BEGIN { srand(seed); print 0.8 * rand() * rand() }')"
    if kill -s KILL "$run" 2>/dev/null; then done=$((done + 1)); fi
    status=0
    wait "$run" 2>/dev/null || status=$?
    [ "$status" -eq 0 ] || [ "$status" -eq 137 ] || fail "a run ended with $status"
    ended=$((status == 0))
    keys >after
    [ -z "$(comm -23 before after)" ] || fail "rows were lost: $(comm -23 before after)"
    mv after before
    if [ -f rows.yaml ]; then expect 0 db lint rows.yaml; fi
    if [ -f rows.trials.jsonl ]; then
        damaged=$(grep -cv '^{"schema": 1, .*}$' rows.trials.jsonl || true)
        [ "$damaged" -le "$done" ] || fail "$damaged lines of the log are damaged by $done kills"
    fi
done
expect 0 tune "$@"
says ', 0 failed, 0 left; '
keys | cmp -s - wanted || fail 'not every problem has a row'
if grep -q crashed rows.trials.jsonl; then fail 'a kill was taken for a crash'; fi
echo "$done kills, $(grep -c '"kind": "trial"' rows.trials.jsonl) trials, $(wc -l <wanted) problems: all have rows"
