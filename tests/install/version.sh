#!/bin/sh
# One version: the header's numbers and text, kiln_version() of the shared library, CMake's project,
# `kiln version`, kiln.pc, the names of the library's files, CHANGELOG and the manual pages agree.
set -eu
build=${KILN_BUILD:?} sandbox=${KILN_SANDBOX:?}
mkdir -p "$sandbox"
cd "${KILN_SOURCE:?}"

number() { sed -n "s/^#define KILN_VERSION_$1 //p" runtime/kiln.h; }
version=$(number MAJOR).$(number MINOR).$(number PATCH)
bad=0
says() { # who, what it says
    [ "$2" = "$version" ] || { echo "$1 says \"$2\", the numbers of kiln.h $version" >&2; bad=1; }
}

echo '#include <kiln.h>
#include <stdio.h>
int main(void) { return puts(kiln_version()) < 0; }' >"$sandbox/version.c"
# shellcheck disable=SC2086
cc ${KILN_EXTRA_CFLAGS:-} -Iruntime -Igenerator -o "$sandbox/version" "$sandbox/version.c" "$build/libkiln.so" \
    -Wl,-rpath,"$build"
says KILN_VERSION "$(sed -n 's/^#define KILN_VERSION "\(.*\)"/\1/p' runtime/kiln.h)"
says "kiln_version() of libkiln.so" "$("$sandbox/version")"
says CMakeLists.txt "$(sed -n 's/^project(kiln VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)"
says "kiln version" "$("$build/kiln" version | sed 's/^kiln (version: \([^)]*\)).*/\1/')"
says kiln.pc "$(sed -n 's/^Version: //p' "$build/kiln.pc")"
says "the file behind libkiln.so" "$(basename "$(readlink -f "$build/libkiln.so")" | sed 's/^libkiln\.so\.//')"
says CHANGELOG.md "$(sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGELOG.md | head -1)"
soname=$(objdump -p "$build/libkiln.so" | sed -n 's/^ *SONAME *//p')
kept=$(sed -n "s/.* soname='\([^']*\)'.*/\1/p" abi/libkiln.abi)
[ "$soname" = "$kept" ] || { echo "libkiln.so is $soname, abi/libkiln.abi of $kept" >&2; bad=1; }
exit $bad
