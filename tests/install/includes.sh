#!/bin/sh
# Who may include whom, a rule per folder. A folder's own headers are included by bare name, all
# others by their path from the root, the public headers by bare name everywhere.
set -eu
cd "${KILN_SOURCE:?}"

# folder, then the folders whose headers it may include
rules='
generator/base
generator/layout generator/base
generator/problem generator/base generator/layout
generator/cpu generator/base
generator/gpu generator/base
generator/plan generator/base generator/layout generator/problem generator/cpu generator/gpu
generator/geometry generator/base generator/layout generator/problem generator/plan
generator/solvers/SOLVER generator/base generator/layout generator/problem generator/cpu generator/gpu generator/plan generator/geometry
runtime
runtime/base generator/base
runtime/rows generator/base runtime/base
runtime/programs generator/base generator/plan runtime/base
runtime/device generator/base generator/cpu generator/gpu generator/plan runtime/base runtime/programs
runtime/pocl generator/base generator/plan runtime/base runtime/programs
runtime/kiln generator/base generator/plan runtime/base runtime/rows runtime/programs runtime/device
runtime/choose generator/base generator/layout generator/problem generator/plan runtime/kiln
runtime/op generator/base generator/layout generator/problem generator/plan runtime/base runtime/programs runtime/kiln runtime/choose
runtime/net generator/base generator/layout generator/problem generator/plan runtime/base runtime/kiln runtime/choose runtime/op
runtime/tune generator/base generator/layout generator/problem generator/plan runtime/base runtime/programs runtime/kiln runtime/choose runtime/op
driver/base
driver/help driver/base
driver/problem_list
driver/onnx driver/base
driver/reference driver/base
driver/layout driver/base driver/reference
driver/conv driver/base driver/help driver/reference driver/problem_list driver/layout driver/onnx
driver/model driver/base driver/conv driver/reference driver/onnx
driver/db driver/base driver/conv
driver/emit driver/base driver/conv driver/reference
driver/doctor driver/base driver/conv
driver/report driver/base driver/conv driver/reference driver/onnx
driver/tune driver/base driver/conv driver/problem_list
driver/completion driver/base driver/conv
driver driver/completion driver/base driver/help driver/conv driver/db driver/doctor driver/emit driver/layout driver/model driver/tune driver/report
tests/bench/base
tests/bench/work driver/problem_list driver/reference
tests/bench/peers generator/problem runtime/kiln runtime/pocl driver/base driver/layout driver/reference tests/bench/base tests/bench/work
tests/bench/machine runtime/kiln driver/base tests/bench/base tests/bench/peers
tests/bench/timing driver/base tests/bench/base tests/bench/peers tests/bench/machine
tests/bench/fit generator/plan runtime/kiln
tests/bench/programs generator/plan runtime/base runtime/kiln runtime/op runtime/pocl runtime/rows driver/base driver/conv driver/reference driver/report tests/bench/base tests/bench/work tests/bench/peers tests/bench/machine tests/bench/timing tests/bench/fit
'
# One header of another folder, for a folder or a file: a family of solvers that builds on another,
# and the door to what only PoCL gets.
doors='
generator/solvers/image generator/solvers/winograd/winograd.h
generator/solvers/gpu generator/solvers/winograd/winograd.h
runtime/op runtime/pocl/pocl.h
runtime/kiln runtime/pocl/pocl.h
'
public='kiln.h kiln_chain.h kiln_device.h kiln_net.h kiln_find.h kiln_tune.h kiln_problem.h kiln_layout.h kiln_pool.h'
libc='assert.h ctype.h errno.h float.h limits.h math.h stdarg.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h'
bad=0

# No two rooms may include each other, by way of others neither. tsort names a loop that it finds.
{
    echo "$rules" | while read -r folder others; do
        for other in $others; do echo "$folder $other"; done
    done
    echo "$doors" | while read -r folder header; do
        [ -z "$folder" ] || echo "$folder $(dirname "$header")"
    done
} | tsort >/dev/null || { echo "tests/install/includes.sh: rules with a loop" >&2; bad=1; }

complain() {
    echo "$1: must not include $2" >&2
    bad=1
}

among() { # word, words...
    word=$1
    shift
    for other in "$@"; do [ "$word" = "$other" ] && return 0; done
    return 1
}

allowed() { # folder: what it may include besides its own headers
    case $1 in generator/solvers/*) folder=generator/solvers/SOLVER ;; *) folder=$1 ;; esac
    echo "$rules" | sed -n "s,^$folder \(.*\),\1,p"
}

check_file() { # file, its folder, the folders it may include
    file=$1 folder=$2
    shift 2
    for name in $(sed -n 's/^ *# *include *"\([^"]*\)".*/\1/p' "$file"); do
        case $folder in driver* | runtime* | tests*) headers=$public ;; *) headers='kiln_problem.h kiln_layout.h kiln_pool.h' ;; esac
        among "$name" $headers && continue
        case $name in
        */*)
            among "$(dirname "$name")" "$@" && [ -f "$name" ] && continue
            among "$name" $(echo "$doors" | sed -n "s,^$folder ,,p; s,^$file ,,p") && continue
            ;;
        *) [ -f "$folder/$name" ] && continue ;;
        esac
        complain "$file" "$name"
    done
}

for folder in $(git ls-files generator runtime driver tests/bench 2>/dev/null || find generator runtime driver tests/bench -type f); do
    dirname "$folder"
done | sort -u >"${TMPDIR:-/tmp}/kiln-folders.$$"
for folder in $(cat "${TMPDIR:-/tmp}/kiln-folders.$$"); do
    others=$(allowed "$folder")
    for file in "$folder"/*.c "$folder"/*.h; do
        [ -f "$file" ] && check_file "$file" "$folder" $others
    done
done
rm -f "${TMPDIR:-/tmp}/kiln-folders.$$"

# The generator is pure: no files, heap, OpenCL or threads.
for file in $(find generator -name '*.[ch]'); do
    for name in $(sed -n 's/^ *# *include *<\([^>]*\)>.*/\1/p' "$file"); do
        among "$name" $libc || complain "$file" "$name"
    done
    if grep -nE '\b(malloc|calloc|realloc|free|fopen|getenv|printf|puts)\(' "$file"; then
        complain "$file" "heap, files, environment or output"
    fi
done
exit $bad
