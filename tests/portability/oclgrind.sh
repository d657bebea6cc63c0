#!/bin/sh
# Every solver over small.txt under oclgrind: out-of-bounds accesses, races, uninitialised values and
# wrong API calls fail, as do wrong results, and a solver or template that no line of the list reaches.
#
#     KILN_COMMAND=build/release/kiln tests/portability/oclgrind.sh [LIST]
#
# Where KILN_RANDOM names test_random, that goes on for a minute with tiny problems, for the sake of
# the configs that no guess makes; without --uninitialized, as it runs many problems in a process.
#
# Every run also checks padding (KILN_CHECK_PADDING). One process a run: oclgrind 21.10 keeps the shadow of a released buffer, and reports the end of a
# larger one that takes its place. Compiled without optimisation: its --uninitialized does not know
# the instruction `freeze`, which LLVM's optimiser adds. Compiled so it finds no kernel in winograd.cl
# with plain tensors, which therefore runs optimised and without --uninitialized. What read_imagef returns it takes for
# initialised or not by chance, differently in each run, so images go without --uninitialized too.
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
solvers=$(oclgrind "$kiln" explain -n 1 -c 1 -H 1 -W 1 -k 1 -y 1 -x 1 -F 1 |
    sed -n 's/^[* ] *\([A-Za-z][A-Za-z0-9_]*\)  *[0-9][0-9]*  .*/\1/p')
runs=0 refused=0 failed=0
: >ran

# The words of one problem, a direction, a solver.
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
    case $name in padding.cl | *_probe.cl) continue ;; esac
    ! grep -qrx "#include \"$name\"" "$templates" || continue
    grep -qx "$name" ran || { echo "$name did not run"; failed=$((failed + 1)); }
done
[ -z "${KILN_RANDOM:-}" ] || random
[ "$runs" -gt 0 ] && [ "$failed" -eq 0 ]
