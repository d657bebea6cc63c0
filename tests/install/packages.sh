#!/bin/sh
# Makes the Debian packages, unpacks them into a folder, and has the README's first command and its C
# program run from there. The archive of the sources configures without git.
set -eu
: "${KILN_BUILD:?}" "${KILN_SOURCE:?}" "${KILN_SANDBOX:?}"
for tool in dpkg-deb dpkg-shlibdeps file gzip; do
    command -v "$tool" >/dev/null 2>&1 || { echo "no $tool: this system packs no .deb"; exit 77; }
done
rm -rf "$KILN_SANDBOX"
mkdir -p "$KILN_SANDBOX/app"
cd "$KILN_BUILD"

# What is built is packed: with make as the generator CPack would build once more.
cpack -G DEB -B "$KILN_SANDBOX/made" -D CPACK_CMAKE_GENERATOR=Ninja >"$KILN_SANDBOX/cpack.log" ||
    { cat "$KILN_SANDBOX/cpack.log" >&2; exit 1; }
root=$KILN_SANDBOX/root
says() { # package, field, what it says
    dpkg-deb -f "$KILN_SANDBOX/made/$1"_*.deb "$2" | grep -q "$3" ||
        { echo "$1: $2 does not say \"$3\"" >&2; exit 1; }
}
for package in kiln libkiln0 libkiln-dev; do
    says "$package" Package "^$package\$"
    says "$package" Maintainer '^.* <.*@.*>$'
    says "$package" Description '^convolutions on any OpenCL device'
    dpkg-deb -x "$KILN_SANDBOX/made/${package}"_*.deb "$root"
    [ -s "$root/usr/share/doc/$package/copyright" ]
done
says kiln Depends '^libkiln0 (= [0-9.]*-1), .*libc6'
says libkiln0 Depends 'libyaml-0-2'
says libkiln0 Depends 'ocl-icd-libopencl1'
says libkiln-dev Depends '^libkiln0 (= [0-9.]*-1), '
if command -v scdoc >/dev/null 2>&1; then
    [ -s "$root/usr/share/man/man1/kiln.1.gz" ]
fi

for file in bash-completion/completions/kiln zsh/vendor-completions/_kiln fish/vendor_completions.d/kiln.fish; do
    [ -s "$root/usr/share/$file" ]
done

LD_LIBRARY_PATH=$(dirname "$(find "$root" -name 'libkiln.so.?')")
PKG_CONFIG_PATH=$(dirname "$(find "$root" -name kiln.pc)"):${PKG_CONFIG_PATH:-}
export LD_LIBRARY_PATH PKG_CONFIG_PATH
real=$(cd "$root" && pwd -P)
env -u KILN_SHIPPED_DB "$root/usr/bin/kiln" env | grep -q "^KILN_SHIPPED_DB=$real/usr/share/kiln  (default)"

# The README's first command, of one image and without the search.
command=$(sed -n 's|^ *\./dev run \(conv .*\) -s 1 -n 16 \(.*\)|\1 -n 1 \2|p' "$KILN_SOURCE/README.md" | head -1)
# shellcheck disable=SC2086
env -u KILN_SHIPPED_DB "$root/usr/bin/kiln" $command | tee "$KILN_SANDBOX/out"
grep -q 'Verifies OK' "$KILN_SANDBOX/out"

awk '/^```c$/ { n++; on = 1; next } /^```$/ { on = 0 } on && n == 1' "$KILN_SOURCE/README.md" \
    >"$KILN_SANDBOX/app/example.c"
# shellcheck disable=SC2046,SC2086
${CC:-cc} -std=c11 ${KILN_EXTRA_CFLAGS:-} -o "$KILN_SANDBOX/app/example" "$KILN_SANDBOX/app/example.c" \
    $(pkg-config --cflags --libs kiln)
"$KILN_SANDBOX/app/example" | grep -q 'y\[0\] = 192'

cpack --config CPackSourceConfig.cmake -B "$KILN_SANDBOX/made" >"$KILN_SANDBOX/cpack.log" ||
    { cat "$KILN_SANDBOX/cpack.log" >&2; exit 1; }
tar -xzf "$KILN_SANDBOX"/made/kiln-*.tar.gz -C "$KILN_SANDBOX/app"
sources=$(find "$KILN_SANDBOX/app" -maxdepth 1 -name 'kiln-*')
[ ! -e "$sources/.git" ] && [ ! -e "$sources/build" ]
cmake -S "$sources" -B "$KILN_SANDBOX/app/build" >/dev/null
echo ok
