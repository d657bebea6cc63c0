#!/bin/sh
# 1000 damaged files of tuning rows (tests/device/test_rows_hostile.c), under AddressSanitizer.
#
#     tests/portability/damage.sh [FILES [PRESET]]
set -eu
cd "$(dirname "$0")/../.."
preset=${2:-asan}
[ -d "build/$preset" ] || cmake --preset "$preset" >/dev/null
cmake --build "build/$preset" --target test_rows_hostile -j "$(nproc)" >/dev/null
export KILN_DEVICE="${KILN_DEVICE:-cpu}"
# The suppressions of tests/CMakeLists.txt, and PoCL alone.
export LSAN_OPTIONS="suppressions=$PWD/tests/lsan.supp:print_suppressions=0:use_tls=0"
pocl=/etc/OpenCL/vendors/pocl.icd
if [ -f "$pocl" ]; then export OCL_ICD_VENDORS="$pocl"; fi
# A process for each core, with a part of the files.
cores=$(nproc)
export KILN_DAMAGED_FILES=$(((${1:-1000} + cores - 1) / cores))
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
core=0
while [ "$core" -lt "$cores" ]; do
    (
        export KILN_DAMAGED_FIRST=$((core * KILN_DAMAGED_FILES))
        if "build/$preset/tests/test_rows_hostile"; then echo ok >"$box/$core"; fi
    ) >"$box/log.$core" 2>&1 &
    core=$((core + 1))
done
wait
cat "$box"/log.*
[ "$(find "$box" -name '[0-9]*' | wc -l)" -eq "$cores" ]
