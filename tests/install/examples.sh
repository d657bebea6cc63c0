#!/bin/sh
# Installs kiln into a sandbox and builds the examples, and a test of kiln.hpp, against it.
set -eu
: "${KILN_BUILD:?}" "${KILN_SOURCE:?}" "${KILN_SANDBOX:?}"
rm -rf "$KILN_SANDBOX"
mkdir -p "$KILN_SANDBOX/pc" "$KILN_SANDBOX/consumer"
prefix=$KILN_SANDBOX/prefix
cmake --install "$KILN_BUILD" --prefix "$prefix" >/dev/null
flags=${KILN_EXTRA_CFLAGS:-}

configure() { # source, build, options...
    from=$1 to=$2
    shift 2
    cmake -S "$from" -B "$to" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_FLAGS="$flags" \
        -DCMAKE_CXX_FLAGS="$flags" "$@" >"$KILN_SANDBOX/log" 2>&1
}

fail() {
    echo "examples: $1" >&2
    exit 1
}

# What comes along.
doc=$(find "$prefix" -type d -path '*share/doc*' -name kiln)
for file in LICENSE README.md CHANGELOG.md docs/architecture.md docs/network.md examples/one.c; do
    [ -f "$doc/$file" ] || fail "$file is not installed"
done
if command -v scdoc >/dev/null; then
    find "$prefix" -name kiln.3 | grep -q . || fail 'no manual page is installed'
fi
for file in bash-completion/completions/kiln zsh/site-functions/_kiln fish/vendor_completions.d/kiln.fish; do
    [ -f "$prefix/share/$file" ] || fail "$file is not installed"
done

# Built from the installed copies, with warnings as errors.
configure "$doc/examples" "$KILN_SANDBOX/build" -DCMAKE_COMPILE_WARNING_AS_ERROR=ON ||
    { cat "$KILN_SANDBOX/log"; exit 1; }
cmake --build "$KILN_SANDBOX/build" >"$KILN_SANDBOX/log" 2>&1 || { cat "$KILN_SANDBOX/log"; exit 1; }
for run in one chain find network threads one_cxx; do
    "$KILN_SANDBOX/build"/$run || fail "$run"
done

# kiln.hpp, as strictly as C++17 can be taken.
libraries=$(dirname "$(find "$prefix" -name libkiln.so)")
${CXX:-c++} -std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Werror -Wno-missing-field-initializers $flags \
    -I "$prefix/include" -o "$KILN_SANDBOX/hpp" "$KILN_SOURCE/tests/install/hpp.cc" \
    -L "$libraries" -lkiln -lOpenCL
LD_LIBRARY_PATH=$libraries "$KILN_SANDBOX/hpp"

# yaml and xxhash are for kiln::static alone.
for folder in $(pkg-config --variable pc_path pkg-config | tr : ' '); do
    cp "$folder"/OpenCL*.pc "$KILN_SANDBOX/pc" 2>/dev/null || true
done
cat >"$KILN_SANDBOX/consumer/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.21)
project(consumer C)
find_package(kiln 0.1 REQUIRED ${COMPONENTS})
CMAKE
PKG_CONFIG_LIBDIR=$KILN_SANDBOX/pc
export PKG_CONFIG_LIBDIR
configure "$KILN_SANDBOX/consumer" "$KILN_SANDBOX/shared" ||
    { cat "$KILN_SANDBOX/log"; fail 'kiln::kiln needs more than OpenCL'; }
if configure "$KILN_SANDBOX/consumer" "$KILN_SANDBOX/static" -DCOMPONENTS='COMPONENTS;static'; then
    fail 'kiln::static was found without yaml and xxhash'
fi
grep -q 'libyaml' "$KILN_SANDBOX/log" || { cat "$KILN_SANDBOX/log"; fail 'no word of libyaml'; }
echo ok
