#!/bin/sh
# kiln tune in passing trouble: a full disk, a folder that is gone, a pause and signals judge no config.
. "$(dirname "$0")/common"
[ "${KILN_DEVICE:-}" = cpu ] && "$KILN_COMMAND" --list-devices | grep -q '"Portable Computing' ||
    skip 'this is about the cache and the processes of PoCL'
for size in 4 5; do echo "conv -n 1 -c 16 -H $size -W $size -k 16 -y 1 -x 1 -F 1"; done >list
set -- list --solvers naive,13 --trials 3 --seconds 0
trials() { if [ -f "$1" ]; then grep -c '"kind": "trial"' "$1" || true; else echo 0; fi; }

# Without room for what is compiled the run ends with 5, and with room the same command does all.
mkdir small
if mount -t tmpfs -o size=4m none small 2>/dev/null; then
    trap 'umount "$KILN_SANDBOX/small"' EXIT
    dd if=/dev/zero of=small/fill bs=64k 2>/dev/null || true
    KILN_DB=full.yaml POCL_CACHE_DIR=$PWD/small expect 5 tune "$@"
    warns 'programs cannot be compiled: .*/small: No space left on device; make room, or name another folder in POCL_CACHE_DIR$'
    says 'the same command goes on with what is left$'
    [ "$(trials full.trials.jsonl)" -eq 0 ] || fail 'a config was judged'
    rm small/fill
    KILN_DB=full.yaml POCL_CACHE_DIR=$PWD/small expect 0 tune "$@"
    says '^2 tuned, 0 tuned before, 0 failed, 0 left; '
    lacks 'build failed'
fi

# A log in which all failed so, as earlier versions left it, blocks nothing.
expect 0 tune "$@"
says '^2 tuned, '
sed -i '/"kind": "search"/d; s/"verdict": "[^"]*"/"verdict": "build failed"/; s/"ms": [^,]*, //' rows.trials.jsonl
rm rows.yaml
expect 0 tune "$@"
says '^2 tuned, 0 tuned before, 0 failed, 0 left; '

# A stopped run does not time out: neither do all of its processes together, nor its workers alone.
if command -v pgrep >/dev/null; then
    templates=$(dirname "$0")/../../templates
    mkdir planted
    # A kernel that takes a while.
    awk '/^kernel .*void naive\(/ { k = 1 } { print }
        k && /^\{/ { print "for (volatile int i = 1; i < 400000; i++) ;"; k = 0 }' \
        "$templates/naive/naive.cl" >planted/naive.cl
    for whom in all workers; do
        KILN_DB=$whom.yaml KILN_TEMPLATES=$PWD/planted "$KILN_COMMAND" tune list --match i4x4 --solvers naive \
            --seconds 0 --jobs 0 --trial-limit 9 >out 2>err &
        run=$!
        waits=0
        until children=$(pgrep -P "$run") && [ -n "$children" ]; do
            waits=$((waits + 1))
            [ "$waits" -lt 600 ] || fail 'the run did not start'
            sleep 0.05
        done
        sleep 1
        children=$(pgrep -P "$run") || true
        stopped=$children
        [ $whom = workers ] || stopped="$run $children"
        # shellcheck disable=SC2086
        kill -s STOP $stopped 2>/dev/null || true
        sleep 13
        # shellcheck disable=SC2086
        kill -s CONT $stopped 2>/dev/null || true
        status=0
        wait "$run" || status=$?
        if grep -q timeout out err $whom.trials.jsonl; then fail "a pause of $whom was a timeout"; fi
    done
fi

# SIGQUIT ends a run as SIGTERM does; a second signal leaves no half of a trace.
for signal in QUIT TERM; do
    "$KILN_COMMAND" tune list --solvers 13,naive,direct --jobs 0 --seconds 60 --fresh --trace $signal.json >out 2>err &
    run=$!
    before=$(trials rows.trials.jsonl)
    waits=0
    until [ "$(trials rows.trials.jsonl)" -gt "$before" ] || [ "$waits" -gt 600 ]; do
        waits=$((waits + 1))
        sleep 0.05
    done
    kill -s $signal "$run" 2>/dev/null || true
    status=0
    wait "$run" || status=$?
    [ "$status" -eq 130 ] || fail "a run that SIG$signal ended gave $status"
    says 'the same command goes on with what is left'
    [ -s $signal.json ] || fail 'there is no trace'
done
"$KILN_COMMAND" tune list --solvers 13,naive,direct --jobs 0 --seconds 60 --fresh --trace twice.json >out 2>err &
run=$!
waits=0
until ls twice.json.*.tmp >/dev/null 2>&1; do
    waits=$((waits + 1))
    [ "$waits" -lt 600 ] || fail 'the trace did not begin'
    sleep 0.02
done
sleep 0.5
kill -s TERM "$run" 2>/dev/null || true
kill -s TERM "$run" 2>/dev/null || true
sleep 0.05
kill -s TERM "$run" 2>/dev/null || true
wait "$run" || true
if ls twice.json.*.tmp 2>/dev/null; then fail 'half of a trace is left'; fi
