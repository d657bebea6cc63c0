#!/bin/sh
# What `kiln tune` finds in a quarter of an hour against what it finds in two hours.
#
#     ./dev bench sweep [LIST]       resnet50, at a batch of 1, forward, in the layouts kiln chooses
#
# The short sweep takes SHORT (15m). The long one goes on from there for LONG more (105m). Then the
# winners of both, and the guesses, are timed in turns (bench_sweep.c). KEEP=DIR keeps rows, logs and
# a page of kiln report there; rows of a sweep that are there already are not made again.
. "$(dirname "$0")/common"
list=${1:-resnet50}
[ -f "$list" ] || list=tests/bench/shapes/$list.txt
[ -f "$list" ] || { echo "bench: there is no list $1" >&2; exit 2; }
kiln=$PWD/build/release/kiln
box=${KEEP:-$(mktemp -d)}
mkdir -p "$box"
[ -n "${KEEP:-}" ] || trap 'rm -rf "$box"' EXIT
trap 'exit 130' INT TERM
export KILN_SHIPPED_DB=off KILN_DEVICE="${KILN_DEVICE:-cpu}"

sweep() { # name, time
    KILN_DB="$box/$1.yaml" "$kiln" tune "$list" --max-batchsize 1 -F 1 -I any -O any \
        --total-time "$2" >"$box/$1.txt" || { tail -3 "$box/$1.txt"; exit 1; }
    echo "$1 sweep, $2: $(tail -2 "$box/$1.txt" | tr '\n' ';')"
}
if [ ! -f "$box/short.yaml" ]; then sweep short "${SHORT:-15m}"; fi
if [ ! -f "$box/long.yaml" ]; then
    cp "$box/short.yaml" "$box/long.yaml"
    cp "$box/short.trials.jsonl" "$box/long.trials.jsonl"
    sweep long "${LONG:-105m}"
fi
KILN_DB=off "$programs/bench_sweep" "$list" "$box/short.yaml" "$box/long.yaml"
if [ -n "${KEEP:-}" ]; then "$kiln" report "$box/long.yaml" -o "$box/report.html"; fi
