#!/bin/sh
# Who may include whom: generator knows only itself and libc; runtime the generator; the driver the
# public headers; nobody the driver.
set -eu
cd "${KILN_SOURCE:?}"
bad=0
complain() {
    echo "$1: must not include $2" >&2
    bad=1
}
check() { # directory, allowed extra directories...
    room=$1
    shift
    for file in "$room"/*.c "$room"/*.h; do
        [ -f "$file" ] || continue
        for name in $(sed -n 's/^ *# *include *"\([^"]*\)".*/\1/p' "$file"); do
            found=
            for dir in "$room" "$@"; do
                [ -f "$dir/$name" ] && found=1
            done
            [ -n "$found" ] || complain "$file" "$name"
        done
    done
}
check generator
check runtime generator
# The driver sees the public headers only.
for file in driver/*.c driver/*.h; do
    for name in $(sed -n 's/^ *# *include *"\([^"]*\)".*/\1/p' "$file"); do
        case $name in
        kiln.h | kiln_layout.h | kiln_problem.h) ;;
        *) [ -f "driver/$name" ] || complain "$file" "$name" ;;
        esac
    done
done
# The generator is pure: no files, heap, OpenCL or threads.
for file in generator/*.c generator/*.h; do
    for name in $(sed -n 's/^ *# *include *<\([^>]*\)>.*/\1/p' "$file"); do
        case $name in
        assert.h | ctype.h | errno.h | limits.h | math.h | stdarg.h | stdbool.h | stddef.h | stdint.h | stdio.h | stdlib.h | string.h) ;;
        *) complain "$file" "$name" ;;
        esac
    done
    if grep -nE '\b(malloc|calloc|realloc|free|fopen|getenv|printf|puts)\(' "$file"; then
        complain "$file" "heap, files, environment or output"
    fi
done
exit $bad
