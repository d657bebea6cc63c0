#!/bin/sh
# Every solver over small.txt under oclgrind: fails on bad accesses, races, uninitialised values,
# wrong API calls and wrong results, and where no line of the list reaches a solver or a template.
#
#     KILN_COMMAND=build/release/kiln tests/portability/oclgrind.sh [LIST]
#
# Where KILN_RANDOM names test_random, that program runs tiny problems for a minute, to reach
# configs that no guess has. It runs without --uninitialized, because it has many problems in one
# process.
#
# Every run also checks padding (KILN_CHECK_PADDING). What oclgrind 21.10 lacks decides the rest:
# - Each run is a process, because oclgrind keeps the shadow of a released buffer and reports the
#   end of a larger buffer in its place.
# - Kernels are compiled without optimisation, because --uninitialized does not know the instruction
#   `freeze`, which LLVM's optimiser adds. Without optimisation oclgrind finds no kernel in
#   winograd.cl
#   for plain tensors: that template runs optimised and without --uninitialized.
# - Images run without --uninitialized, because the values of read_imagef count as initialised or
#   not by chance.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
list=${1:-$here/small.txt}
kiln=$(realpath "${KILN_COMMAND:?names the command to test}")
[ -z "${KILN_RANDOM:-}" ] || KILN_RANDOM=$(realpath "$KILN_RANDOM")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export KILN_CACHE=off KILN_DB=off KILN_SHIPPED_DB=off KILN_CHECK_PADDING=1
unset KILN_DEVICE 2>/dev/null || true
# Tensor cores and AMX are beyond oclgrind.
solvers=$(oclgrind "$kiln" explain -n 1 -c 1 -H 1 -W 1 -k 1 -y 1 -x 1 -F 1 |
    sed -n 's/^[* ] *\([A-Za-z][A-Za-z0-9_]*\)  *[0-9][0-9]*  .*/\1/p' | grep -v -e 'mma$' -e '_amx$')
runs=0 refused=0 failed=0
: >ran

# run WORDS... -F DIRECTION -S SOLVER: one problem in one direction with one solver.
run() {
    status=0
    words=$*
    rm -f log
    case $words in *IMG_* | *_image) uninitialized= ;; *) uninitialized=--uninitialized ;; esac
    # shellcheck disable=SC2086
    oclgrind --build-options -cl-opt-disable --data-races $uninitialized --check-api --log log \
        "$kiln" "$@" -P 1 --fill int >out 2>&1 || status=$?
    if grep -q "Kernel '.*' not found" out; then
        status=0
        oclgrind --data-races --check-api --log log \
            "$kiln" "$@" -P 1 --fill int >out 2>&1 || status=$?
    fi
    if [ "$status" -eq 3 ]; then
        refused=$((refused + 1))
        return
    fi
    runs=$((runs + 1))
    echo "${words##* }: ${words%% *}" >>ran
    sed -n 's/^stage .* of \([a-z0-9_]*\.cl\).*/\1/p' out >>ran
    if [ "$status" -ne 0 ] || [ -s log ]; then
        failed=$((failed + 1))
        echo "FAILED: kiln $words (status $status)"
        sed 's/^/    /' out
        [ ! -s log ] || { grep -v '^[[:space:]]*$' log | head -n 12 | sed 's/^/    /'; }
    fi
}

# Random problems and configs.
random() {
    rm -f log
    KILN_RANDOM_WORK=20000 CK_DEFAULT_TIMEOUT=900 \
        oclgrind --data-races --check-api --log log "$KILN_RANDOM" >out 2>&1 || failed=$((failed + 1))
    sed 's/^/    /' out
    if [ -s log ]; then
        failed=$((failed + 1))
        grep -v '^[[:space:]]*$' log | head -n 30 | sed 's/^/    /'
    fi
}

[ -n "$solvers" ] || { echo "oclgrind.sh: kiln explain names no solver" >&2; exit 1; }
while read -r line; do
    case $line in '' | '#'*) continue ;; esac
    for mask in 1 2 4; do
        for solver in $solvers; do
            # shellcheck disable=SC2086
            run $line -F $mask -S "$solver" </dev/null
        done
    done
done <"$list"
echo "oclgrind: $runs runs, $failed failed, $refused refused by the solver"
sort ran | uniq -c
for solver in $solvers; do
    grep -q "^$solver: " ran || { echo "$solver did not run"; failed=$((failed + 1)); }
done
templates=$here/../../templates
for template in "$templates"/*.cl "$templates"/*/*.cl; do
    name=$(basename "$template")
    # In no solver's plan: this, what asks what PoCL can do, and what others include.
    case $name in padding.cl | *_probe.cl | *mma*.cl | *amx*.cl) continue ;; esac
    ! grep -qrx "#include \"$name\"" "$templates" || continue
    grep -qx "$name" ran || { echo "$name did not run"; failed=$((failed + 1)); }
done
[ -z "${KILN_RANDOM:-}" ] || random
[ "$runs" -gt 0 ] && [ "$failed" -eq 0 ]
