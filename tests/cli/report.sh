#!/bin/sh
# kiln report: a page of what a search left, and what it refuses. tests/unit/test_report.c looks into
# pages.
. "$(dirname "$0")/common"

cat >rows.yaml <<'TEXT'
schema: 1
device: "a card"
rows:
- {key: "fwd-f32-n1-c16-k16-i4x4-f1x1", solver: direct, version: 1, config: "1", ms: 0.5}
TEXT
expect 0 report --help
says '^usage: kiln report'
expect 0 report rows.yaml --limits none
silent out
warns '^kiln-report.html: 1 device, 1 layer, 0 trials$'
grep -q '</html>' kiln-report.html || fail 'the page has no end'
expect 0 report rows.yaml --limits none -o - --peak f16=7 --peak 100 --bandwidth 10
silent err
says '^<!DOCTYPE html>'
says 'fwd-f32-n1-c16-k16-i4x4-f1x1'
says '100 GFLOP/s, as given on the command line'
# older files, which are read with their logs as others are
sed 's/ms: 0.5/ms: 1.5/' rows.yaml >old.yaml
expect 0 report --before old.yaml rows.yaml --limits none -o -
says '1 layer is in both: 1 faster now, 0 slower, 0 within'
says '<code>old.yaml</code> \(before\): tuning rows, 1 used'
says '<td class="n" data-v="3">3</td>'
expect 0 report --before rows.yaml --before old.yaml rows.yaml --limits none -o -
says '1 layer is in both: 0 faster now, 0 slower, 1 within'
sed 's/a card/another card/' rows.yaml >other.yaml
expect 0 report --before other.yaml rows.yaml --limits none -o other.html
warns '^kiln report: warning: no layer is both in the files and in those of --before, on the same device$'
expect 5 report --before nowhere.yaml rows.yaml --limits none
warns '^kiln report: nowhere.yaml: No such file'
expect 0 report rows.yaml --limits none --match f3x3 -o none.html
warns '^none.html: .* 0 layers'
expect 0 report rows.yaml -o same.html --limits count
# the page replaces what was there, and only when it is whole
expect 5 report nowhere.yaml --limits none
warns '^kiln report: nowhere.yaml: No such file'
expect 5 report rows.yaml --limits none -o nowhere/page.html
warns '^kiln report: cannot write nowhere/page.html: No such file'
expect 5 report rows.yaml --limits none -o .
[ "$(find . -name '*.tmp' | wc -l)" -eq 0 ] || fail 'a temporary file was left'
for wrong in '--limits some' '--peak fast' '--peak f31=7' '--bandwidth -1' '--pages 3'; do
    # shellcheck disable=SC2086
    expect 2 report rows.yaml $wrong
done
for wrong in '--limits some' '--peak f31=7' '--bandwidth -1'; do
    # shellcheck disable=SC2086
    expect 2 report rows.yaml $wrong
    warns "^kiln report: ${wrong%% *} is '${wrong#* }'; it must be "
done
# flags and files that make no sense are named, and what is no file of kiln's replaces no page
for wrong in -o --pages --match --before; do
    expect 2 report $wrong
    warns "^kiln report: unknown flag or missing value: $wrong; kiln report --help explains$"
done
expect 2 report rows.yaml -xo page.html
warns "^kiln report: unknown flag or missing value: -x; "
echo kept >page.html
echo 'conv -n 1 -c 4 -H 5 -W 5 -k 3' >layers.txt
expect 5 report layers.txt --limits none -o page.html
warns '^kiln report: layers.txt: it has neither tuning rows, nor '
[ "$(cat page.html)" = kept ] || fail 'the page was replaced'
KILN_DB=off expect 5 report
warns '^kiln report: .*KILN_DB=off, .*; name a file$'
KILN_DB=$PWD/none.yaml expect 5 report
warns '^kiln report: .*/none.yaml: no such file yet; kiln conv -s 1 makes it$'
# the log beside the rows is read too, and the limits of this device are measured
rm rows.yaml
expect 0 conv -n 1 -c 16 -H 4 -W 4 -k 16 -y 1 -x 1 -F 1 -S naive -s 1 -t 1 --json
cp out results.json
expect 0 report rows.yaml results.json -o page.html
warns '^page.html: 1 device, 1 layer, [1-9][0-9]* trials?$'
grep -v '^kiln report: warning: the machine was busy while its limits were measured (' err >said || true
[ "$(wc -l <said)" -eq 1 ] || fail 'more was said than what was written'
for limit in 'f32 multiply-adds: .* GFLOP/s' 'memory: .* GB/s'; do
    grep -Eq "<li>$limit, measured for this page: the best of 6 rounds over [0-9]+ s, the least of which is [0-9]" \
        page.html || fail "no rounds of '$limit'"
done
grep -q 'log of trials' page.html || fail 'the log was not read'
grep -q 'results' page.html || fail 'the results were not read'
expect 0 report -o own.html --limits count
warns '^own.html: 1 device, 1 layer'
# a log that is named beside its rows is read once, and without limits none is measured
expect 0 report rows.yaml --limits none -o once.html
cp err once
expect 0 report rows.trials.jsonl ./rows.yaml ./rows.trials.jsonl --limits none -o once.html
cmp -s err once || fail "a log was read twice: $(cat err)"
expect 0 report --limits none -o own.html
grep -q 'measured for this page' own.html && fail 'limits were measured'
true
