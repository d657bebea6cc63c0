#!/bin/sh
# Measures configs of solvers, and fits the numbers of their predictions to them (docs/fitting.md).
#
#     ./dev bench fit SOLVER[,SOLVER...] [LIST...] [OPTIONS]     --help lists them
#
# TRIALS (40): configs of each problem. KEEP=DIR keeps the log of trials there; the same command goes
# on with it. OPTIONS: further flags of kiln tune, as "--total-time 5m".
. "$(dirname "$0")/common"
BENCH_COMMAND="./dev bench fit $*"
export BENCH_COMMAND
case " $* " in
' '*' --log'* | *' --help '* | *' -h '*) exec "$programs/bench_fit" "$@" ;;
esac
case ${1:-} in
'' | -*) echo "bench: name the solvers first, with commas between them; --help has the usage" >&2; exit 2 ;;
esac
solvers=$1
box=${KEEP:-$(mktemp -d)}
mkdir -p "$box"
[ -n "${KEEP:-}" ] || trap 'rm -rf "$box"' EXIT
export KILN_DEVICE="${KILN_DEVICE:-cpu}"
"$programs/bench_fit" "$@" >"$box/problems.txt"
KILN_DB="$box/rows.yaml" KILN_SHIPPED_DB=off build/release/kiln tune "$box/problems.txt" \
    --solvers "$solvers" --trials "${TRIALS:-40}" --seconds 0 --verify-ms 50 ${OPTIONS:-} >&2 || {
    status=$?
    [ "$status" != 2 ] || exit 2 # it was asked for what there is not, and measured nothing
    echo "bench: kiln tune ended with $status; the fit is to what it measured" >&2
}
"$programs/bench_fit" "$solvers" --log "$box/rows.trials.jsonl"
