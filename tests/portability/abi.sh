#!/bin/sh
# The binary interface of libkiln beside the one that programs were built with, abi/libkiln.abi: fails
# where a public symbol is gone, or a function or a type of the public headers has changed. Additions
# pass. With --update the interface at hand replaces the kept one. docs/releasing.md says when.
# usage: abi.sh LIBRARY [--update]; the library has debug information. `./dev abi` builds it.
set -eu
library=$1
kept=abi/libkiln.abi
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT

# dump LIBRARY HEADERS: the interface without what differs from machine to machine.
dump() {
    abidw --headers-dir "$2" --drop-private-types --exported-interfaces-only --no-corpus-path \
        --no-comp-dir-path --no-elf-needed --no-show-locs --no-parameter-names \
        --type-id-style hash "$1" | sed "s,path='[^']*/\(generator\|runtime\)/,path='\1/,"
}

# compare KEPT NEW: reports changes from one dump to another, and fails where there are some besides
# additions. Dumps have no headers left, so the library itself would not do for the second one.
compare() {
    abidiff --no-added-syms --no-show-locs "$1" "$2"
}

# The comparison itself: beside the first of these libraries one adds a function, one grows a structure,
# one counts further in an enumeration, one swaps two values of it, one lacks a function, and one
# changes a type that no header has.
mkdir "$sandbox/in"
echo 'typedef struct own own; typedef enum kind { ONE, TWO } kind;
typedef struct pub { kind a; } pub; int f(pub *p); int g(own *o);' \
    >"$sandbox/in/pub.h"
make() { # name, what is exchanged
    mkdir "$sandbox/$1"
    printf '%s\n' '#include "pub.h"' 'struct own { int b; };' 'int f(pub *p) { return p->a; }' \
        'int g(own *o) { return o->b; }' | sed "$2" >"$sandbox/$1/lib.c"
    sed "$2" "$sandbox/in/pub.h" >"$sandbox/$1/pub.h"
    (cd "$sandbox/$1" && cc -g -shared -fPIC -o lib.so lib.c)
}
make first ''
make adds 's/^int g.*/& int h(void) { return 0; }/'
make grows 's/kind a;/& int c;/'
make counts 's/TWO/&, THREE/'
make swaps 's/ONE, TWO/TWO, ONE/'
make lacks '/^int g/d'
make hides 's/int b;/& int c;/'
dump "$sandbox/first/lib.so" "$sandbox/first" >"$sandbox/first.abi"
for case in 'adds 0' 'grows 1' 'counts 0' 'swaps 1' 'lacks 1' 'hides 0'; do
    name=${case% *} wanted=${case#* } found=0
    dump "$sandbox/$name/lib.so" "$sandbox/$name" >"$sandbox/$name.abi"
    compare "$sandbox/first.abi" "$sandbox/$name.abi" >/dev/null || found=1
    [ "$found" = "$wanted" ] || {
        echo "abi: \"$name\": changes were expected $wanted times, found $found times by $(abidiff --version)" >&2
        exit 1
    }
done

if [ "$(uname -m)" != x86_64 ]; then
    echo "abi: $kept is of x86_64; nothing was compared on $(uname -m)"
    exit 0
fi
mkdir "$sandbox/headers"
cp generator/kiln_*.h runtime/kiln*.h "$sandbox/headers"
dump "$library" "$sandbox/headers" >"$sandbox/new.abi"
if [ "${2:-}" = --update ]; then
    [ ! -f "$kept" ] || compare "$kept" "$sandbox/new.abi" || true
    cp "$sandbox/new.abi" "$kept"
elif ! compare "$kept" "$sandbox/new.abi" >"$sandbox/report"; then
    cat "$sandbox/report" >&2
    echo "abi: programs that use libkiln would break. Keep the old function or type beside the new one," \
        "or raise SOVERSION in CMakeLists.txt and run ./dev abi --update (docs/releasing.md)" >&2
    exit 1
fi
