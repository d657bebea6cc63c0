#!/bin/sh
# A pause is no work: searches whose processes are all stopped for longer than their time go on behind that.
. "$(dirname "$0")/common"
command -v pgrep >/dev/null || skip 'there is no pgrep'
for size in 6 7; do echo "conv -n 1 -c 16 -H $size -W $size -k 16 -y 1 -x 1 -F 1"; done >list
lines() { if [ -f "$1" ]; then grep -c '"kind": "trial"' "$1" || true; else echo 0; fi; }

# Four searches that would take far longer than they may; each is stopped behind its first trial.
KILN_DB=seconds.yaml "$KILN_COMMAND" tune list --match i6x6 --solvers direct --jobs 0 --seconds 20 >seconds.out 2>err &
seconds=$!
KILN_DB=total.yaml "$KILN_COMMAND" tune list --solvers direct --jobs 0 --total-time 20 >total.out 2>err &
total=$!
KILN_DB=here.yaml "$KILN_COMMAND" tune list --solvers direct --no-isolate --total-time 20 >here.out 2>err &
here=$!
KILN_DB=limit.yaml "$KILN_COMMAND" conv -n 1 -c 16 -H 8 -W 8 -k 16 -y 1 -x 1 -F 1 -s 1 -S direct --limit-ms 20000 \
    >limit.out 2>err &
limit=$!
stopped=
for name in seconds total here limit; do
    waits=0
    until [ "$(lines $name.trials.jsonl)" -gt 0 ]; do
        waits=$((waits + 1))
        [ "$waits" -lt 1200 ] || fail "the search $name did not start"
        sleep 0.05
    done
    eval "run=\$$name"
    # shellcheck disable=SC2154
    these="$run $(pgrep -P "$run" | tr '\n' ' ')"
    # shellcheck disable=SC2086
    kill -s STOP $these
    stopped="$stopped $these"
done
sleep 1
for name in seconds total here limit; do lines $name.trials.jsonl >$name.before; done
sleep 22
# shellcheck disable=SC2086
kill -s CONT $stopped
# One trial may have been under way when the pause began. What goes on behind that is not waited for.
for name in seconds total here limit; do
    eval "run=\$$name"
    until [ "$(lines $name.trials.jsonl)" -gt $(($(cat $name.before) + 1)) ]; do
        kill -0 "$run" 2>/dev/null || break
        sleep 0.05
    done
    kill -s INT "$run" 2>/dev/null || true
    wait "$run" || true
    more=$(($(lines $name.trials.jsonl) - $(cat $name.before)))
    cp $name.out out
    [ "$more" -gt 1 ] || fail "the search $name tried $more configs behind the pause"
done
