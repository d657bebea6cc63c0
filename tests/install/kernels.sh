#!/bin/sh
# The layout of kernels (*.cl), which clang-format does not know: it takes `(r) * D_STEP` for a cast, and
# EACH_TAP or UNROLL before a loop for a statement. Names each line that is wider than 100 columns, has a
# tab or blanks at its end, begins a statement at a column that is no multiple of 4, or continues a macro
# with a `\` elsewhere than in column 100. With --mend the script mends what needs no judgement: tabs,
# blanks and the places of `\`. `./dev lint` and `./dev format` run it.
set -eu
cd "${KILN_SOURCE:-.}"

faults() {
    awk '
    function fault(what) { print FILENAME ":" FNR ": " what }
    FNR == 1 { before = ""; comment = 0 }
    {
        if (length($0) > 100) fault("wider than 100 columns: wrap the line")
        if (/\t/) fault("a tab: ./dev format mends that")
        if (/[ \t]$/) fault("blanks at the end: ./dev format mends that")
        if (/\\$/ && length($0) != 100) fault("a \\ outside of column 100: ./dev format mends that")
        inside = comment
        if (!comment && /\/\*/ && !/\*\//) comment = 1
        else if (/\*\//) comment = 0
        if (inside || /^ *#/) next
        code = $0
        sub(/ *\\$/, "", code)
        match(code, /^ */)
        if (code ~ /[^ ]/ && RLENGTH % 4 && before ~ /^$|[;{}]$/)
            fault("begins at column " RLENGTH ": indent by multiples of 4")
        sub(/ *\/\*.*/, "", code)
        before = code
    }' "$@"
}

# Blanks for tabs, none at the end, `\` in column 100 where the line leaves room.
mended() {
    expand -t 4 "$1" | sed 's/ *$//' | awk '
    /\\$/ { sub(/ *\\$/, ""); printf(length($0) < 99 ? "%-99s\\\n" : "%s \\\n", $0); next }
    { print }'
}

# The search itself: each fault of this text, and no other, is found and mended.
sandbox=${KILN_SANDBOX:-$(mktemp -d)}
mkdir -p "$sandbox"
{
    printf 'int a; \n{\n  int b;\n    const int c = 1 +\n              2;\n\tint d;\n}\n'
    printf '/* one\n * two */\n#define E(x) \\\n    (x)\n%101s\n' x
    printf '    place p = {.a = 1,\n#if 1\n               .b = 2,\n#endif\n    };\n'
} >"$sandbox/faults.cl"
(cd "$sandbox" && faults faults.cl) | cut -d' ' -f1-3 >"$sandbox/found"
cat >"$sandbox/wanted" <<'TEXT'
faults.cl:1: blanks at
faults.cl:3: begins at
faults.cl:6: a tab:
faults.cl:10: a \
faults.cl:12: wider than
TEXT
diff "$sandbox/wanted" "$sandbox/found" >&2
mended "$sandbox/faults.cl" >"$sandbox/mended.cl"
faults "$sandbox/mended.cl" | cut -d: -f2,3 >"$sandbox/found"
printf '3: begins at column 2\n12: wider than 100 columns\n' | diff - "$sandbox/found" >&2

find templates tests -name '*.cl' | sort >"$sandbox/files"
if [ "${1:-}" = --mend ]; then
    while read -r file; do
        mended "$file" >"$sandbox/mended.cl"
        cmp -s "$file" "$sandbox/mended.cl" || cp "$sandbox/mended.cl" "$file"
    done <"$sandbox/files"
fi
# shellcheck disable=SC2046
faults $(cat "$sandbox/files") >"$sandbox/found"
cat "$sandbox/found" >&2
[ ! -s "$sandbox/found" ]
