#!/bin/sh
# kiln tune where the compiler has no memory or the device is lost: the run ends with 5, no config is judged,
# and the same command goes on.
. "$(dirname "$0")/common"
: "${KILN_TEST_SHIM:?}"
export KILN_FAULTS="$KILN_SANDBOX/faults"
LD_PRELOAD=$KILN_TEST_SHIM "$KILN_COMMAND" --version >out 2>err || skip 'a library cannot be preloaded here'
for size in 4 5; do echo "conv -n 1 -c 16 -H $size -W $size -k 16 -y 1 -x 1 -F 1"; done >list
bad() { if [ -f rows.trials.jsonl ]; then grep '"kind": "trial"' rows.trials.jsonl | grep -cv '"verdict": "\(ok\|slow\)"' || true; else echo 0; fi; }
trials() { if [ -f rows.trials.jsonl ]; then grep -c '"kind": "trial"' rows.trials.jsonl || true; else echo 0; fi; }
tune() {
    status=0
    LD_PRELOAD=$KILN_TEST_SHIM "$KILN_COMMAND" tune list --solvers 13,naive --trials 20 --seconds 0 --jobs 0 "$@" >out 2>err ||
        status=$?
}
finishes() { # after the trouble the same command does all
    rm -f "$KILN_FAULTS"
    tune "$@"
    [ "$status" -eq 0 ] || fail "with nothing wrong the run gave $status"
    says ', 0 failed, 0 left; '
    [ "$(bad)" -eq 0 ] || fail 'a config was judged'
}

for isolate in --isolate --no-isolate; do
    rm -f rows.*
    echo memory >"$KILN_FAULTS"
    tune $isolate
    [ "$status" -eq 5 ] || fail "$isolate: without memory the run gave $status"
    warns 'the machine lacks the means: clBuildProgram: CL_OUT_OF_HOST_MEMORY \(-6\)'
    says 'the same command goes on with what is left$'
    [ "$(trials)" -eq 0 ] || fail "$isolate: a config was judged"
    finishes $isolate
done

# later WORD: writes the word into the file of faults when the first trial is in the log.
later() {
    rm -f rows.* "$KILN_FAULTS"
    (
        until [ "$(trials)" -gt 0 ]; do sleep 0.02; done
        echo "$1" >faults.new
        mv faults.new "$KILN_FAULTS"
    ) &
    watch=$!
}

# The device goes away.
for isolate in --isolate --no-isolate; do
    later lost
    tune $isolate
    wait "$watch" || true
    [ "$status" -eq 5 ] || fail "$isolate: with a lost device the run gave $status"
    warns 'the device is lost: '
    says 'the same command goes on with what is left$'
    [ "$(bad)" -eq 0 ] || fail "$isolate: a config was judged"
    finishes $isolate
done

# A device that is lost before a problem's first trial, and can be opened anew, costs nothing.
rm -f rows.*
echo once >"$KILN_FAULTS"
tune
[ ! -e "$KILN_FAULTS" ] || fail 'the device was not lost'
[ "$status" -eq 0 ] || fail "a device that is lost before the trials gave $status"
[ "$(bad)" -eq 0 ] || fail 'a config was judged'

# A config that loses a device, which can be opened anew, is to blame, and is the only one.
later once
tune
wait "$watch" || true
[ "$status" -eq 0 ] || fail "a device that is lost once gave $status"
says ', 1 crashed'
[ "$(bad)" -eq 1 ] || fail 'not one config was judged'
