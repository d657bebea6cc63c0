#!/bin/sh
# Starts six processes of kiln at once on empty caches, again and again, and reports every crash.
#
#     KILN_COMMAND=build/release/kiln sh tests/portability/first_starts.sh [ROUNDS [SECONDS]]
#
# Ends after ROUNDS (20) rounds or after SECONDS (600), whichever comes first. The rounds take turns:
# PoCL's cache and kiln's are shared by the six or apart, in all four ways. Of a crash, the caches,
# the output and the core file, where the system writes one, are kept; gdb or eu-stack, where one is
# installed, tells the crash's backtrace. The last line counts processes, crashes and other failures;
# the exit status is 1 where there are any.
set -eu
: "${KILN_COMMAND:?}"
rounds=${1:-20}
limit=${2:-600}
command=$(realpath "$KILN_COMMAND")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-first-starts-XXXXXX")
count=6
# A process that hangs counts as another failure.
patience=300
export KILN_DB=off
unset KILN_CACHE 2>/dev/null || true
export KILN_DEVICE="${KILN_DEVICE:-cpu}"
ulimit -c unlimited 2>/dev/null || true

start_one() { # number, PoCL's cache, kiln's cache
    mkdir -p "$round/$1" "$2"
    cd "$round/$1"
    while [ ! -e "$round/go" ]; do sleep 0.01; done
    status=0
    POCL_CACHE_DIR=$2 KILN_CACHE_DIR=$3 timeout "$patience" "$command" conv -i 1 -t 1 -V 1 \
        -n 1 -c 4 -H 5 -W 5 -k 4 -y 1 -x 1 -S naive >out 2>err || status=$?
    echo "$status" >status
}

tell_backtrace() { # folder of the process
    for core in "$1"/core*; do
        [ -f "$core" ] || continue
        if command -v gdb >/dev/null 2>&1; then
            gdb -batch -ex 'thread apply all bt' "$command" "$core" 2>/dev/null
        elif command -v eu-stack >/dev/null 2>&1; then
            eu-stack --core "$core" --executable "$command"
        else
            echo "(neither gdb nor eu-stack is installed; the core is $core)"
        fi
        return
    done
    echo "(the system wrote no core file into $1; /proc/sys/kernel/core_pattern says where it does)"
}

judge() { # the round's name, number of the process
    folder=$round/$2
    status=$(cat "$folder/status" 2>/dev/null || echo 255)
    processes=$((processes + 1))
    [ "$status" -ne 0 ] || return 0
    kept=1
    if [ "$status" -gt 128 ] && [ "$status" -lt 255 ]; then
        crashes=$((crashes + 1))
        echo "round $done_rounds, $1: process $2 ended by signal $((status - 128)); kept in $folder"
        tail -n 5 "$folder/out" "$folder/err"
        tell_backtrace "$folder"
    else
        failures=$((failures + 1))
        echo "round $done_rounds, $1: process $2 ended with status $status; kept in $folder"
        tail -n 5 "$folder/out" "$folder/err"
    fi
}

begin=$(date +%s)
done_rounds=0 processes=0 crashes=0 failures=0
while [ "$done_rounds" -lt "$rounds" ] && [ $(($(date +%s) - begin)) -lt "$limit" ]; do
    round=$scratch/$done_rounds
    mkdir "$round"
    case $((done_rounds % 4)) in
    0) pocl=shared kiln=shared ;;
    1) pocl=apart kiln=apart ;;
    2) pocl=shared kiln=apart ;;
    3) pocl=apart kiln=shared ;;
    esac
    i=0
    while [ "$i" -lt "$count" ]; do
        pocl_dir=$round/pocl kiln_dir=$round/kiln
        [ "$pocl" = shared ] || pocl_dir=$round/pocl-$i
        [ "$kiln" = shared ] || kiln_dir=$round/kiln-$i
        start_one "$i" "$pocl_dir" "$kiln_dir" &
        i=$((i + 1))
    done
    sleep 0.5 # until all six wait
    : >"$round/go"
    wait
    kept=0
    i=0
    while [ "$i" -lt "$count" ]; do
        judge "PoCL's cache $pocl, kiln's $kiln" "$i"
        i=$((i + 1))
    done
    [ "$kept" -eq 1 ] || rm -rf "$round"
    done_rounds=$((done_rounds + 1))
done
rmdir "$scratch" 2>/dev/null || true
echo "$done_rounds rounds, $processes processes: $crashes crashes, $failures other failures"
[ $((crashes + failures)) -eq 0 ]
