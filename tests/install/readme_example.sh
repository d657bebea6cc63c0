#!/bin/sh
# Installs kiln into a sandbox and builds the README's C example against kiln.pc and kilnConfig.cmake.
set -eu
: "${KILN_BUILD:?}" "${KILN_SOURCE:?}" "${KILN_SANDBOX:?}"
rm -rf "$KILN_SANDBOX"
mkdir -p "$KILN_SANDBOX/app" "$KILN_SANDBOX/cmake"
prefix=$KILN_SANDBOX/prefix
cmake --install "$KILN_BUILD" --prefix "$prefix" >/dev/null

# The two C blocks of the README: a convolution and a network.
block() { # number
    awk -v wanted="$1" '/^```c$/ { n++; on = 1; next } /^```$/ { on = 0 } on && n == wanted' \
        "$KILN_SOURCE/README.md"
}
block 1 >"$KILN_SANDBOX/app/example.c"
block 2 >"$KILN_SANDBOX/app/network.c"
grep -q kiln_conv_create "$KILN_SANDBOX/app/example.c"
grep -q kiln_net_create "$KILN_SANDBOX/app/network.c"

pc=$(find "$prefix" -name kiln.pc)
PKG_CONFIG_PATH=$(dirname "$pc"):${PKG_CONFIG_PATH:-}
export PKG_CONFIG_PATH
flags=$(pkg-config --cflags --libs kiln)
${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror ${KILN_EXTRA_CFLAGS:-} \
    -o "$KILN_SANDBOX/app/pc" "$KILN_SANDBOX/app/example.c" $flags
LD_LIBRARY_PATH=$(pkg-config --variable=libdir kiln) "$KILN_SANDBOX/app/pc" | tee "$KILN_SANDBOX/out"
grep -q 'y\[0\] = 192' "$KILN_SANDBOX/out"
${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror ${KILN_EXTRA_CFLAGS:-} \
    -o "$KILN_SANDBOX/app/net" "$KILN_SANDBOX/app/network.c" $flags
LD_LIBRARY_PATH=$(pkg-config --variable=libdir kiln) "$KILN_SANDBOX/app/net" | tee "$KILN_SANDBOX/out"
grep -q 'y\[0\] = 2$' "$KILN_SANDBOX/out"

# The shipped rows are the ones that were installed, although the prefix is not the configured one.
real=$(cd "$prefix" && pwd -P)
env -u KILN_SHIPPED_DB "$prefix/bin/kiln" env | grep -q "^KILN_SHIPPED_DB=$real/share/kiln  (default)"

# The headers alone, as C++.
printf '#include <kiln.h>\nint main() { return kiln_version()[0] != 48; }\n' >"$KILN_SANDBOX/app/a.cc"
${CXX:-c++} -Wall -Wextra -Wpedantic -Werror ${KILN_EXTRA_CFLAGS:-} -o "$KILN_SANDBOX/app/cc" \
    "$KILN_SANDBOX/app/a.cc" $flags
LD_LIBRARY_PATH=$(pkg-config --variable=libdir kiln) "$KILN_SANDBOX/app/cc"

cat >"$KILN_SANDBOX/cmake/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(consumer C)
find_package(kiln 0.1 REQUIRED)
add_executable(shared ../app/example.c)
target_link_libraries(shared kiln::kiln)
add_executable(static ../app/example.c)
target_link_libraries(static kiln::static)
CMAKE
cmake -S "$KILN_SANDBOX/cmake" -B "$KILN_SANDBOX/cmake/build" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_FLAGS="${KILN_EXTRA_CFLAGS:-}" >/dev/null
cmake --build "$KILN_SANDBOX/cmake/build" >/dev/null
"$KILN_SANDBOX/cmake/build/shared" | grep -q 'y\[0\] = 192'
"$KILN_SANDBOX/cmake/build/static" | grep -q 'y\[0\] = 192'
echo ok
