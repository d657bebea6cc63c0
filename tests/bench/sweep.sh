#!/bin/sh
# What `kiln tune` finds in a quarter of an hour against what it finds in two hours.
#
#     ./dev bench sweep [LIST]       resnet50, at a batch of 1, forward, in the layouts kiln chooses
#
# The short sweep takes SHORT (15m). The long one goes on from there for LONG more (105m). Then the
# winners of both, and the guesses, are timed in turns (bench_sweep.c). KEEP=DIR keeps rows, logs and
# a page of kiln report there. With KILN_DEVICE the sweeps are of another device than the CPU; OPTIONS
# (--jobs 2) are flags of kiln tune.
#
# PAIRS=N spreads a sweep over N pairs of neighbouring cores, which work at once: each has a shard of
# the list and an N-th of the time, so that all together have SHORT and LONG of two cores. PAIRS=all
# takes all pairs that this process may use. The winners are timed on the first pair, while the others
# have nothing to do. Pairs share the memory's bandwidth and the CPU's clock, and time that a shard
# does not need is of no use to another one.
#
# CALL=TIME ends the sweeps after that time. A later call with the same KEEP, on a CPU of the same
# kind, goes on; the call in which the long sweep ends compares.
. "$(dirname "$0")/common"
list=${1:-resnet50}
[ -f "$list" ] || list=tests/bench/shapes/$list.txt
[ -f "$list" ] || { echo "bench: there is no list $1" >&2; exit 2; }
kiln=$PWD/build/release/kiln
box=${KEEP:-$(mktemp -d)}
mkdir -p "$box"
began=$(date +%s)
jobs=
leave() {
    [ -z "$jobs" ] || kill $jobs 2>/dev/null || true
    wait
    [ -n "${KEEP:-}" ] || rm -rf "$box"
}
trap leave EXIT
trap 'exit 130' INT TERM
export KILN_SHIPPED_DB=off KILN_DEVICE="${KILN_DEVICE:-cpu}" POCL_CACHE_DIR="$scratch/sweep"
[ "$KILN_DEVICE" = cpu ] || export KILN_CACHE=on KILN_CACHE_DIR="$scratch/sweep/kiln"

in_seconds() { # 90, 90s, 15m, 2h
    echo "$1" | awk '{ print $1 * ($1 ~ /h$/ ? 3600 : $1 ~ /m$/ ? 60 : 1) }'
}

# Prints the pairs of neighbouring cores that this process may use, "4,5", a line each.
pairs_of_cores() {
    taskset -pc $$ | sed 's/.*: //' | tr ',' '\n' | awk -F- '{
        for (i = $1; i <= ($2 == "" ? $1 : $2); i++) may[i + 0] = 1
    } END { for (i = 0; i < 4096; i += 2) if (may[i] && may[i + 1]) print i "," i + 1 }'
}

if [ -n "${PAIRS:-}" ]; then
    cores=$(pairs_of_cores)
    [ "$PAIRS" = all ] || cores=$(echo "$cores" | head -n "$PAIRS")
    pairs=$(echo "$cores" | grep -c , || true)
    [ "$pairs" -gt 0 ] && { [ "$PAIRS" = all ] || [ "$pairs" = "$PAIRS" ]; } || {
        echo "bench: this process may use $pairs pairs of cores" >&2
        exit 2
    }
    export POCL_AFFINITY=0 # 1 means the machine's first cores, whatever pair a process has
    echo "$pairs pairs of cores: $(echo $cores); siblings of the first:" \
        "$(cat "/sys/devices/system/cpu/cpu${cores%%,*}/topology/thread_siblings_list" 2>/dev/null)"
else
    cores=any
    pairs=1
fi

# Shards of another number of pairs are other shards.
echo "$pairs" >>"$box/pairs"
if [ "$(sort -u "$box/pairs" | wc -l)" -gt 1 ]; then
    echo "bench: $box is of $(head -n 1 "$box/pairs") pairs of cores, not of $pairs" >&2
    exit 2
fi

on() { # pair, command
    if [ "$1" = any ]; then shift; else set -- taskset -c "$@"; fi
    "$@" &
    jobs="$jobs $!"
}

join() { # waits for what `on` began
    failed=
    for job in $jobs; do wait "$job" || failed=1; done
    jobs=
    [ -z "$failed" ]
}

# Tunes each shard on its pair.
tune() { # name, seconds
    i=0
    for pair in $cores; do
        i=$((i + 1))
        KILN_DB="$box/$1.yaml" on "$pair" "$kiln" tune "$list" --max-batchsize 1 -F 1 -I any -O any \
            ${OPTIONS:---jobs 2} --shard "$i/$pairs" --total-time "$2" >"$box/$1.$i.txt" 2>"$box/$1.$i.err"
    done
    join || { tail -qn 2 "$box/$1".*.err; exit 1; }
    i=0
    for pair in $cores; do
        i=$((i + 1))
        tail -n 1 "$box/$1.$i.txt"
    done
}

# Goes on with a sweep until it has had its time, which a file keeps, and joins the shards' rows.
# Returns false where this call's time ended it.
sweep() { # name, time
    had=$(cat "$box/$1.seconds" 2>/dev/null || echo 0)
    all=$(in_seconds "$2")
    left=$(awk -v all="$all" -v n="$pairs" -v had="$had" 'BEGIN { print all / n - had }')
    call=$(awk -v call="$(in_seconds "${CALL:-1000h}")" -v had="$(($(date +%s) - began))" \
        'BEGIN { print call - had }')
    now=$(awk -v a="$left" -v b="$call" 'BEGIN { print a < b ? a : b }')
    if awk -v t="$left" 'BEGIN { exit t > 5 }'; then return 0; fi
    if awk -v t="$now" 'BEGIN { exit t > 5 }'; then return 1; fi
    start=$(date +%s.%N)
    tune "$1" "$now"
    had=$(awk -v had="$had" -v a="$start" -v b="$(date +%s.%N)" 'BEGIN { print had + b - a }')
    echo "$had" >"$box/$1.seconds"
    if [ "$pairs" -gt 1 ]; then
        "$kiln" db merge "$box/$1".shard-*.yaml -o "$box/$1.yaml" >"$box/$1.merge.txt"
        cat "$box/$1".shard-*.trials.jsonl >"$box/$1.trials.jsonl"
    fi
    echo "$1 sweep: $had s of $(awk -v all="$all" -v n="$pairs" 'BEGIN { print all / n }') s on" \
        "$pairs pairs, $(grep -c '"kind": *"trial"' "$box/$1.trials.jsonl") trials in the log"
    # What this call had no time for is left; a tuner that ends sooner by itself has done all.
    awk -v a="$left" -v b="$call" 'BEGIN { exit b < a }'
}

# Rows and logs of the short sweep are the long one's beginning.
copy_short() {
    for file in "$box"/short*.yaml "$box"/short*.jsonl; do
        cp "$file" "$box/long${file#"$box"/short}"
    done
}

[ -f "$box/short.seconds" ] || rm -rf "$POCL_CACHE_DIR"
mkdir -p "$POCL_CACHE_DIR"
sweep short "${SHORT:-15m}" || { echo "the next call goes on"; exit 0; }
[ -f "$box/long.seconds" ] || copy_short
sweep long "${LONG:-105m}" || { echo "the next call goes on"; exit 0; }

# All pairs compile what is going to be timed.
i=0
for pair in $cores; do
    i=$((i + 1))
    KILN_DB=off on "$pair" "$programs/bench_sweep" "$list" "$box/short.yaml" "$box/long.yaml" \
        "$i/$pairs" >"$box/compile.$i.txt"
done
join || true # the comparison tells what fails
KILN_DB=off on "${cores%%
*}" "$programs/bench_sweep" "$list" "$box/short.yaml" "$box/long.yaml"
join
if [ -n "${KEEP:-}" ]; then "$kiln" report "$box/long.yaml" -o "$box/report.html"; fi
