#!/bin/sh
# Compiles kernels for GPUs that are not here: NVIDIA's (nvptx64), AMD's (gfx900, gfx90a, gfx1030),
# and SPIR-V, which other drivers take. Prints a line for each kernel on a GPU with what a tool tells
# of it. Fails where a kernel does not compile or compiles with a warning, where no plan has a
# template, and where a kernel that kiln chooses needs more registers than the GPU has.
#
#     ./dev check --offline [--all] [--configs N] [--match TEXT]
#
# offline.txt has the problems, offline_plans.c the models of the devices. A kernel is compiled once
# as kiln chooses it, once as it does not, and once for each type (of AMD's, for gfx90a alone); with
# --all in each plan of each solver. --configs N has, beside the guess of each solver, the first N
# configs that a search would try (0). --match TEXT: only kernels whose target, solver, template or
# kernel contains TEXT. KILN_TEMPLATES names a folder of templates that replace the built-in ones.
#
#   solver      with a star where kiln chooses it for the problem
#   registers   of a work-item
#   spills      what is in memory for lack of registers: of AMD's registers, of NVIDIA's bytes
#   scratch     bytes of a work-item in memory, arrays included
#   local       bytes of a work-group
#
# NVIDIA's numbers come from ptxas, where CUDA is installed. "-": not known, as of a kernel that
# calls what libclc 14 does not have, such as reads of images.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
templates=$here/../../templates
plans=${OFFLINE_PLANS:?names the program offline_plans}
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
all=0 configs=0 match=
while [ $# -gt 0 ]; do
    case $1 in
    --all) all=1; shift ;;
    --configs) [ $# -gt 1 ] || usage; configs=$2; shift 2 ;;
    --match) [ $# -gt 1 ] || usage; match=$2; shift 2 ;;
    *) usage ;;
    esac
done
for tool in clang-14 llvm-spirv-14; do
    command -v $tool >/dev/null 2>&1 ||
        { echo "offline: there is no $tool; ./dev deps --offline installs it" >&2; exit 1; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Solvers may share a kernel with all of its options.
"$plans" "$scratch" "$configs" <"$here/offline.txt" >"$scratch/all"
MATCH=$match awk -F '\t' -v folder="$scratch" -v all="$all" '
    index($1 "\t" $2 "\t" $3 "\t" $4, ENVIRON["MATCH"]) {
        match($5, /SRC_TYPE=[A-Z0-9_]*/)
        first = !of_choice[$1, $3, $4, $2 ~ /[*]$/]++
        if ($1 != "gfx900" && $1 != "gfx1030") # one compiler for all of AMD
            first = !of_type[$1, $3, $4, substr($5, RSTART, RLENGTH)]++ || first
        if ((all || first) && !seen[$1, $3, $4, $5]++) {
            file = sprintf("%s/%05d.plan", folder, ++n)
            print > file
            close(file)
        }
    }' "$scratch/all"
find "$scratch" -name '*.plan' | sort | xargs -n 4 -P "$(nproc)" sh "$here/offline_compile.sh"

# What could be compiled, then what could not.
find "$scratch" -name '*.row' -exec cat {} + | sort | awk -F '\t' '
    function row(target, solver, kernel, registers, spills, scratch, local) {
        printf "%-8s %-22s %-40s %9s %6s %7s %6s\n", target, solver, kernel, registers, spills,
               scratch, local
    }
    BEGIN { row("target", "solver", "kernel", "registers", "spills", "scratch", "local") }
    $1 != "spirv" { row($1, $2, $3 ":" $4, $5, $6, $7, $8) }
    { compiled[$1]++ }
    $2 ~ /[*]$/ && $6 > 0 {
        spilling = spilling "FAILED: " $4 " of " $3 " spills on " $1 "\n"
    }
    END {
        for (target in compiled) print target ": " compiled[target] " kernels compile"
        printf "%s", spilling
    }' >"$scratch/table"
for log in "$scratch"/*.log; do
    [ -f "$log" ] || continue
    awk -F '\t' '{ print "FAILED: " $4 " of " $3 " does not compile for " $1 }' "${log%.log}.plan"
    sed 's/^/    /' "$log"
done >>"$scratch/table"
[ -n "$match" ] || for template in "$templates"/*.cl "$templates"/*/*.cl; do
    name=$(basename "$template")
    # In no solver's plan: this, what asks a device what it can do, what stands before programs for
    # PoCL, and what others include. In no GPU's: instructions of x86.
    case $name in padding.cl | declarations.cl | probe.cl | *_probe.cl) continue ;; esac
    case $template in */amx/*) continue ;; esac
    ! grep -qrx "#include \"$name\"" "$templates" || continue
    cut -f 3 "$scratch/all" | grep -qx "$name" ||
        echo "FAILED: no plan has $name; offline.txt lacks a problem for it"
done >>"$scratch/table"
cat "$scratch/table"
kernels=$(find "$scratch" -name '*.plan' | wc -l) failed=$(grep -c '^FAILED' "$scratch/table" || true)
echo "offline: $kernels kernels, $failed failures"
[ "$kernels" -gt 0 ] && [ "$failed" -eq 0 ]
