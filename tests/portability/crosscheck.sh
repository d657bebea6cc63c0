#!/bin/sh
# Runs the driver lines of a file in all three directions and compares the dumped results with
# oneDNN.
#
#     KILN_COMMAND=build/release/kiln tests/portability/crosscheck.sh build/release/tests/crosscheck LIST
#
# KILN_FLAGS is added to every line: KILN_FLAGS='-S naive', KILN_FLAGS='--max-batchsize 2'.
set -eu
kiln=$(realpath "${KILN_COMMAND:?names the command to test}")
[ $# -eq 2 ] || { echo "usage: crosscheck.sh PROGRAM LIST" >&2; exit 2; }
program=$(realpath "$1") list=$(realpath "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
equal=0 failed=0 skipped=0

# The words of one problem with its direction.
compare() {
    rm -f dump_*.bin
    status=0
    # shellcheck disable=SC2086
    "$kiln" "$@" ${KILN_FLAGS:-} -V 0 -o 1 -i 1 --json >object 2>err || status=$?
    key=$(sed -n 's/^{.*"problem":"\([^"]*\)".*/\1/p' object)
    if [ "$status" -eq 0 ] && [ -n "$key" ]; then
        "$program" "$key" >out 2>err || status=$?
    fi
    case $status in
    0) equal=$((equal + 1)) ;;
    3) skipped=$((skipped + 1)); echo "SKIPPED: $*: $(tail -n 1 err)" ;;
    *) failed=$((failed + 1)); echo "FAILED: kiln $*"; cat out err 2>/dev/null ;;
    esac
}

while read -r line; do
    line=${line#MIOpenDriver }
    case $line in '' | '#'*) continue ;; esac
    for mask in 1 2 4; do
        # shellcheck disable=SC2086
        compare $line -F $mask </dev/null
    done
done <"$list"
echo "oneDNN: $equal equal, $failed failed, $skipped not compared"
[ "$equal" -gt 0 ] && [ "$failed" -eq 0 ]
