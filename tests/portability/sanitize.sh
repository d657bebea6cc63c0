#!/bin/sh
# usage: KILN_COMMAND=build/release/kiln tests/portability/sanitize.sh [LIST [TOOL...]]
#
# Runs the solvers for GPUs over the lines of LIST (sanitize.txt) in all three directions on an
# NVIDIA GPU under compute-sanitizer of the CUDA toolkit: memcheck finds accesses out of bounds,
# racecheck races in local memory (TOOL: memcheck racecheck). compute-sanitizer sees no OpenCL;
# cuda_twin.c makes each launch by CUDA as well. SOLVERS names the solvers, JOBS (4) says how many
# run at once. Prints what was found, then a line that counts; exit status 1: something was found, or
# nothing ran.
set -eu
kiln=$(realpath "${KILN_COMMAND:?names the command to test}")
twin=$(dirname "$kiln")/tests/libcuda_twin.so
export KILN_CACHE=off KILN_DB=off KILN_DEVICE="${KILN_DEVICE:-NVIDIA}"

# one TOOL WORDS...: a problem by a solver; prints "refused", "passed N launches" or what was found.
one() {
    tool=$1
    shift
    log=$(mktemp)
    # --dry-run would not do: it probes no tensor cores, so solvers that need them refuse it.
    if ! "$kiln" "$@" -i 1 -t 0 -P 0 >"$log" 2>&1 && grep -q '^unsupported: ' "$log"; then
        echo refused
        rm "$log"
        return
    fi
    status=0
    compute-sanitizer --tool "$tool" --target-processes all --error-exitcode 91 \
        env LD_PRELOAD="$twin" "$kiln" "$@" -i 1 -t 0 >"$log" 2>&1 || status=$?
    launches=$(sed -n 's/^cuda_twin: \([0-9]*\) launches.*/\1/p' "$log" | tail -n 1)
    if [ "$status" -eq 0 ] && [ "${launches:-0}" -gt 0 ] &&
        grep -q 'ERROR SUMMARY: 0 errors\|RACECHECK SUMMARY: 0 hazards' "$log"; then
        echo "passed $launches launches"
    else
        printf 'FAILED (status %s): %s: kiln %s\n%s\n' "$status" "$tool" "$*" \
            "$(grep -v '^$' "$log" | head -n 40)"
    fi
    rm "$log"
}

if [ "${1:-}" = --one ]; then
    shift
    one "$@"
    exit
fi

list=${1:-$(dirname "$0")/sanitize.txt}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- memcheck racecheck
# All that the folder of GPUs defines, in the order of the registry.
root=$(cd "$(dirname "$0")/../.." && pwd)
gpu_solvers() {
    sed -n 's/^SOLVER(\(.*\))$/\1/p' "$root/generator/plan/solvers.def" | while read -r name; do
        ! grep -q "kiln_solver kiln_solver_$name = " "$root"/generator/solvers/gpu/*.c || echo "$name"
    done
}
solvers=${SOLVERS:-$(gpu_solvers)}
[ -n "$solvers" ]
command -v compute-sanitizer >/dev/null || {
    echo "sanitize: there is no compute-sanitizer; it comes with the CUDA toolkit" >&2
    exit 2
}
found=$(mktemp)
trap 'rm -f "$found"' EXIT
for tool in "$@"; do
    grep -v '^ *\(#\|$\)' "$list" | while read -r line; do
        for solver in $solvers; do
            for direction in 1 2 4; do
                echo "$tool $line -F $direction -S $solver"
            done
        done
    done
done | xargs -P "${JOBS:-4}" -L 1 sh "$0" --one | tee "$found" | grep -v '^refused\|^passed' || true
awk '/^refused/ { refused++ } /^passed/ { passed++; launches += $2 } /^FAILED/ { failed++ }
     END { printf "sanitize: %d passed with %d launches, %d refused, %d failed\n",
                  passed, launches, refused, failed
           exit failed > 0 || passed == 0 }' "$found"
