#!/bin/sh
# A mistake in a template makes ./dev check --offline fail and is named; without it the same kernels
# pass.
#
#     OFFLINE_PLANS=build/release/tests/offline_plans offline_mistake.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command -v clang-14 >/dev/null 2>&1 && command -v llvm-spirv-14 >/dev/null 2>&1 &&
    [ -d /usr/lib/clc ] || { echo "skipped: the packages of ./dev deps --offline are missing"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

sh "$here/offline.sh" --match sum_parts.cl >"$scratch/out"
grep -Eq '^gfx90a .*sum_parts.cl:sum_parts  *[0-9]+  *0 ' "$scratch/out"
grep -q ' 0 failures$' "$scratch/out"
sed 's/\(kernel .*void sum_parts(\)/\1undeclared_type mistake, /' "$here/../../templates/sum_parts.cl" \
    >"$scratch/sum_parts.cl"
if KILN_TEMPLATES=$scratch sh "$here/offline.sh" --match sum_parts.cl >"$scratch/out"; then
    echo "offline.sh passed a mistake"
    exit 1
fi
for target in nvptx64 gfx900 gfx90a gfx1030 spirv; do
    grep -q "^FAILED: sum_parts of sum_parts.cl does not compile for $target" "$scratch/out"
done
grep -q "undeclared_type" "$scratch/out"
