#!/bin/sh
# Compiles the kernels of every solver for GPUs that are not here: NVIDIA's (nvptx64), AMD's (gfx900,
# gfx90a, gfx1030), and SPIR-V. Prints a line for each with registers, spills, scratch and local
# memory as far as a tool tells, and fails where one does not compile or a GPU's solver spills.
#
#     ./dev check --offline [--configs N]
#
# offline.txt has the problems, offline_plans.c the models of the devices. --configs N compiles, beside
# the guess of each solver, the first N configs that a search would try (0).
#
# registers: of a work-item. spills: of AMD's the registers, of NVIDIA's the bytes that are stored in
# memory for lack of registers. scratch: bytes of a work-item's arrays that are in memory. local: bytes
# of a group. NVIDIA's come from ptxas, where CUDA is installed. "-": not known; for kernels that call
# what libclc does not have, such as reads of images, too.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
plans=${OFFLINE_PLANS:?names the program offline_plans}
configs=0
case ${1:-} in
'') ;;
--configs) configs=${2:?} ;;
*) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$plans" "$scratch" "$configs" <"$here/offline.txt" >"$scratch/all"
# Of solvers that share a kernel with all of its options, the first one.
awk -F '\t' -v folder="$scratch" '
    !seen[$1, $3, $4, $5]++ {
        file = sprintf("%s/%05d.plan", folder, ++n)
        print > file
        close(file)
    }' "$scratch/all"
find "$scratch" -name '*.plan' | sort | xargs -n 4 -P "$(nproc)" sh "$here/offline_compile.sh"

cat "$scratch"/*.row 2>/dev/null | sort | awk -F '\t' '
    BEGIN { printf "%-8s %-23s %-34s %9s %6s %7s %6s\n", "target", "solver", "kernel", "registers", "spills", "scratch", "local" }
    { printf "%-8s %-23s %-34s %9s %6s %7s %6s\n", $1, $2, $3 ":" $4, $5, $6, $7, $8 }'
failed=$(find "$scratch" -name '*.log' | wc -l)
for log in "$scratch"/*.log; do
    [ -f "$log" ] || continue
    awk -F '\t' '{ printf "FAILED: %s of %s for %s\n", $4, $3, $1 }' "${log%.log}.plan"
    sed 's/^/    /' "$log"
done
echo "offline: $(find "$scratch" -name '*.plan' | wc -l) kernels, $failed do not compile"
[ "$failed" -eq 0 ]
