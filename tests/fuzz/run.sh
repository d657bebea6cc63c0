#!/bin/sh
# usage: tests/fuzz/run.sh SECONDS [TARGET...]
#
# Looks for inputs that break a fuzz target: builds the preset "fuzz" and runs each target (all, or
# those named, as "plan") for SECONDS, PROCESSES (2) of them at a time. Inputs that reach something
# new stay in build/fuzz/found/TARGET, and the next run starts from them; an input that breaks a
# target becomes build/fuzz/found/TARGET.crash-*. Prints a line a target. Exit status 1: something
# broke.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:?usage: tests/fuzz/run.sh SECONDS [TARGET...]}
shift
processes=${PROCESSES:-2}
build=build/fuzz
found=$build/found

[ $# -gt 0 ] || set -- $(ls tests/fuzz/fuzz_*.c | sed 's/.*fuzz_\(.*\)\.c/\1/')
mkdir -p "$found"
[ -f $build/Makefile ] || cmake --preset fuzz >$build/configure.log
cmake --build $build --target fuzz_targets -j "$processes" >$build/build.log 2>&1 || {
    tail -20 $build/build.log >&2
    exit 2
}

# One process a target; its exit status does not end the others.
printf '%s\n' "$@" | xargs -P "$processes" -I TARGET sh -c '
    mkdir -p "$1/TARGET"
    "$2/tests/fuzz/fuzz_TARGET" -max_total_time="$3" -max_len=1024 -timeout=20 -rss_limit_mb=2048 \
        -print_final_stats=1 -artifact_prefix="$1/TARGET." "$1/TARGET" "tests/fuzz/corpus/TARGET" \
        >"$1/TARGET.log" 2>&1 || true
' sh "$found" $build "$seconds"

broken=0
printf '%-14s %12s %10s %8s %8s  %s\n' target executions a_second edges inputs findings
for target in "$@"; do
    log=$found/$target.log
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")
    edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)
    inputs=$(ls "$found/$target" | wc -l)
    why=$(sed -n 's/.*: not true: //p; s/^SUMMARY: //p' "$log" | head -1)
    [ -z "$why" ] || broken=1
    printf '%-14s %12s %10s %8s %8s  %s\n' "$target" "${runs:-?}" "${rate:-?}" "${edges:-?}" \
        "$inputs" "${why:-none}"
    [ -n "$runs" ] || broken=1
done
exit $broken
