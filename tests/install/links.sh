#!/bin/sh
# Links between documents: each relative link of a *.md names a file that exists and, behind #, a heading
# of it.
set -eu
cd "${KILN_SOURCE:-.}"

# Prints FILE:LINE TARGET for each link outside of fences and code spans.
links() {
    awk '
    FNR == 1 { fenced = 0 }
    /^```/ { fenced = !fenced }
    fenced || /^    / { next }
    {
        gsub(/`[^`]*`/, "")
        while (match($0, /\]\([^)]*\)/)) {
            print FILENAME ":" FNR, substr($0, RSTART + 2, RLENGTH - 3)
            $0 = substr($0, RSTART + RLENGTH)
        }
    }' "$@"
}

# Prints the anchors of a document as hosts make them: lower case, letters, digits, "-" and "_" stay,
# blanks become "-"; the second heading of a name ends in -1.
anchors() {
    awk '
    /^```/ { fenced = !fenced }
    !fenced && /^#+ / {
        sub(/^#+ +/, "")
        $0 = tolower($0)
        gsub(/[^a-z0-9_ -]/, "")
        gsub(/ /, "-")
        print $0 (seen[$0]++ ? "-" seen[$0] - 1 : "")
    }' "$1"
}

# Prints each link of the documents that leads nowhere.
broken() {
    links "$@" | while read -r place target; do
        case $target in http:* | https:* | mailto:*) continue ;; esac
        from=${place%:*} file=${target%%#*} anchor=
        case $target in *'#'*) anchor=${target#*#} ;; esac
        [ -z "$file" ] && file=$from || file=$(dirname "$from")/$file
        if [ ! -e "$file" ]; then
            echo "$place: \"$target\": there is no $file"
        elif [ -n "$anchor" ] && ! anchors "$file" | grep -qxF -e "$anchor"; then
            echo "$place: \"$target\": $file has no heading of that name"
        fi
    done
}

# The search itself: each broken link of these texts, and no other, is found.
sandbox=${KILN_SANDBOX:-$(mktemp -d)}/links
mkdir -p "$sandbox/docs"
cat >"$sandbox/a.md" <<'TEXT'
# What does a *first* start cost?
[b](docs/b.md) [here](#what-does-a-first-start-cost) [twice](docs/b.md#one-1) `[x](y)`
    [code](nowhere)
[no](c.md) and [no](docs/b.md#two), [out](https://localhost/#x)
TEXT
# shellcheck disable=SC2016
printf '# One\n## One\n```\n# Two\n```\n[up](../a.md#up)\n' >"$sandbox/docs/b.md"
cat >"$sandbox/wanted" <<'TEXT'
a.md:4: "c.md"
a.md:4: "docs/b.md#two"
docs/b.md:6: "../a.md#up"
TEXT
(cd "$sandbox" && broken a.md docs/b.md) | sed 's/": .*/"/' | diff "$sandbox/wanted" - >&2

find . -name '*.md' ! -path './build/*' ! -path './shared/*' | sed 's,^\./,,' | sort >"$sandbox/files"
# shellcheck disable=SC2046
broken $(cat "$sandbox/files") >"$sandbox/found"
cat "$sandbox/found" >&2
[ ! -s "$sandbox/found" ]
