#!/bin/sh
# A pause is no work: searches whose processes are all stopped for longer than their time go on behind that.
. "$(dirname "$0")/common"
command -v pgrep >/dev/null || skip 'there is no pgrep'
for size in 6 7; do echo "conv -n 1 -c 16 -H $size -W $size -k 16 -y 1 -x 1 -F 1"; done >list
lines() { if [ -f "$1" ]; then grep -c '"kind": "trial"' "$1" || true; else echo 0; fi; }

# begin NAME WORDS...: starts a search that would take far longer than it may, and stops it behind its first
# trial. They begin one after the other, so that none takes the others' time.
begin() {
    name=$1
    shift
    KILN_DB=$name.yaml "$KILN_COMMAND" "$@" >$name.out 2>err &
    run=$!
    waits=0
    until [ "$(lines $name.trials.jsonl)" -gt 0 ]; do
        waits=$((waits + 1))
        [ "$waits" -lt 1200 ] || fail "the search $name did not start"
        sleep 0.05
    done
    # shellcheck disable=SC2046
    kill -s STOP "$run" $(pgrep -P "$run")
    echo "$run" >$name.run
}

# A failure leaves nothing stopped behind; workers end with their parents.
trap 'for file in *.run; do kill -s KILL "$(cat "$file")" 2>/dev/null || true; done' EXIT
begin seconds tune list --match i6x6 --solvers direct --jobs 0 --seconds 20
begin total tune list --solvers direct --jobs 0 --total-time 20
begin here tune list --solvers direct --no-isolate --total-time 20
begin limit conv -n 1 -c 16 -H 8 -W 8 -k 16 -y 1 -x 1 -F 1 -s 1 -S direct --limit-ms 20000
sleep 22
# One trial may have been under way when the pause began. What goes on behind that is not waited for.
for name in seconds total here limit; do
    run=$(cat $name.run)
    before=$(lines $name.trials.jsonl)
    # shellcheck disable=SC2046
    kill -s CONT "$run" $(pgrep -P "$run")
    until [ "$(lines $name.trials.jsonl)" -gt $((before + 1)) ]; do
        kill -0 "$run" 2>/dev/null || break
        sleep 0.05
    done
    kill -s INT "$run" 2>/dev/null || true
    wait "$run" || true
    more=$(($(lines $name.trials.jsonl) - before))
    cp $name.out out
    [ "$more" -gt 1 ] || fail "the search $name tried $more configs behind the pause"
done
