#!/bin/sh
# Opens a page of kiln report in a browser (Debian's chromium, without a window): its elements are
# there, a click on a column sorts the table, nothing is fetched, nothing is complained of.
#
#     tests/portability/report.sh [PICTURE.png]
#
# With PICTURE.png, the page as a light and as a dark screen shows it goes to PICTURE.png and
# PICTURE.png.dark.png.
set -eu
cd "$(dirname "$0")/../.."
picture=${1:-}
case $picture in /* | '') ;; *) picture=$PWD/$picture ;; esac
command -v chromium >/dev/null || {
    echo 'report.sh: it needs a browser: apt install chromium' >&2
    exit 77
}
kiln=${KILN_COMMAND:-$PWD/build/release/kiln}
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
fail() {
    echo "report.sh: $1" >&2
    exit 1
}
browse() { # flags...
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=3000 \
        --user-data-dir="$box/profile" "$@" 2>>"$box/err"
}

# A search that is over in seconds, rows, and results of runs.
export KILN_DB="$box/rows.yaml"
"$kiln" tune tests/bench/shapes/resnet50.txt -F 1 --match res4a_branch2b --max-batchsize 1 \
    --solvers direct --trials 12 --seconds 0 >/dev/null 2>&1 || fail 'the search failed'
KILN_DB=off "$kiln" conv -n 1 -c 16 -H 8 -W 8 -k 16 -p 1 -q 1 --json >"$box/results.json" ||
    fail 'the run failed'
"$kiln" report "$KILN_DB" "$box/results.json" tests/data/rows/*.yaml -o "$box/page.html" 2>/dev/null

browse --dump-dom "file://$box/page.html" >"$box/dom"
has() { # least number, regular expression
    n=$(grep -oE "$2" "$box/dom" | wc -l)
    [ "$n" -ge "$1" ] || fail "the browser sees $n of '$2', not $1"
}
has 4 '<svg '
has 100 'class="mark fwd"'
has 1 'class="mark bwd"'
has 1 'class="mark wrw"'
has 2 'class="roof"'
has 1 '<figure class="heat">'
has 1 '<figure class="small">'
has 100 '<tr id="d[0-9]+-l'
has 5 'class="tick"'
[ "$(grep -oE 'https?://[^"<]*' "$box/dom" | sort -u)" = http://www.w3.org/1999/xhtml ] ||
    fail 'the page names another place'

# A click, by a script of the test's own behind the page's: rows in falling order of the time.
sed 's|</body>|<script>document.querySelectorAll("table.sortable th button")[2].click()</script></body>|' \
    "$box/page.html" >"$box/sorted.html"
browse --dump-dom "file://$box/sorted.html" >"$box/dom"
has 1 'aria-sort="descending"'
awk '/<section id="d1-layers">/ { on = 1 } /<\/section>/ { on = 0 } on' "$box/dom" |
    sed -n 's/.*<td class="name">[^<]*<\/td><td class="n" data-v="\([^"]*\)".*/\1/p' >"$box/times"
[ -s "$box/times" ] || fail 'the table has no times'
sort -g -r -c "$box/times" || fail 'a click did not sort the table'
if grep -i 'CONSOLE\|Uncaught' "$box/err"; then fail 'the browser complains'; fi
if [ -n "$picture" ]; then
    browse --window-size=1100,4000 --screenshot="$picture" "file://$box/page.html"
    browse --window-size=1100,4000 --blink-settings=preferredColorScheme=0 \
        --screenshot="$picture.dark.png" "file://$box/page.html"
fi
echo 'the page is as it should be'
