#!/bin/sh
# Pages of kiln report in a browser, 500 and 1100 pixels wide: nothing is cut, labels stay inside their
# pictures and beside each other, links lead to rows, and the filter leaves what it should.
. "$(dirname "$0")/common"
command -v chromium >/dev/null || skip 'it needs chromium'

browse() { # WIDTH PAGE: what the browser makes of the page
    timeout 120 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars \
        --virtual-time-budget=3000 --user-data-dir="$PWD/profile" --window-size="$1,900" --dump-dom \
        "file://$PWD/$2" 2>browser.err >dom ||
        fail "the browser ended with $?: $(tail -3 browser.err)"
}

# What a page is asked for, behind its own script. A box may scroll; what is in none has to fit.
cat >asked <<'TEXT'
<script>
const found = [], at = e => e.getBoundingClientRect();
const names = e => (e.className.baseVal ?? e.className) + ' "' + e.textContent.slice(0, 60) + '"';
if (document.documentElement.scrollWidth > innerWidth) found.push('the page is wider than its window');
for (const e of document.body.querySelectorAll('*'))
    if (!e.closest('.wide, .chart') && !e.closest('script') && at(e).width > 0 &&
        (at(e).right > innerWidth + 1 || at(e).left < -1))
        found.push('cut: ' + e.tagName + ' ' + names(e));
for (const box of document.querySelectorAll('.wide, .chart'))
    if (box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX != 'auto')
        found.push('a box that does not scroll: ' + names(box));
for (const picture of document.querySelectorAll('svg')) {
    const texts = Array.from(picture.querySelectorAll('text'));
    for (const t of texts)
        if (at(t).left < at(picture).left - 1 || at(t).right > at(picture).right + 1 ||
            at(t).top < at(picture).top - 1 || at(t).bottom > at(picture).bottom + 1)
            found.push('outside its picture: ' + names(t));
    const labels = texts.filter(t => t.matches('.tick, .title, .roofname'));
    for (const a of labels)
        for (const b of labels)
            if (a != b && at(a).left < at(b).right - 1 && at(b).left < at(a).right - 1 &&
                at(a).top < at(b).bottom - 3 && at(b).top < at(a).bottom - 3)
                found.push('upon each other: ' + names(a) + ' ' + names(b));
}
for (const link of document.querySelectorAll('a[href^="#"]'))
    if (!document.getElementById(link.getAttribute('href').slice(1)))
        found.push('leads nowhere: ' + link.getAttribute('href'));
const filter = (words, says) => {
    const box = document.querySelector('.filter input');
    box.value = words;
    box.dispatchEvent(new Event('input'));
    const shown = document.querySelectorAll('#d1-layers tbody tr:not([hidden])').length;
    const told = document.querySelector('.filter output').textContent;
    const bright = document.querySelectorAll('#d1-roofline svg a:not(.off)').length;
    if (says != `${shown} ${bright} ${told}`) found.push(`filter ${words}: ${shown} ${bright} ${told}`);
};
WANTED
const result = document.createElement('pre');
result.id = 'result';
result.textContent = found.length ? found.slice(0, 20).join('\n') : 'all is well';
document.body.append(result);
</script>
TEXT

# judge PAGE SCRIPT: the page is as it should be in both widths; SCRIPT runs with it.
judge() {
    sed "s|^WANTED\$|$2|" asked >script
    sed -e '/^<\/body>/{' -e 'r script' -e 'N' -e '}' "$1" >judged.html
    grep -q 'all is well' judged.html || fail 'the script is not in the page'
    for width in 500 1100; do
        browse $width judged.html
        sed -n '/<pre id="result">/,/<\/pre>/p' dom >out
        grep -q '<pre id="result">all is well</pre>' out || fail "$1, $width pixels wide"
        if grep -i 'CONSOLE\|Uncaught' browser.err >out; then fail 'the browser complains'; fi
    done
}

# Layers of every direction, of all types and of the longest names, with the smallest and the largest
# times; all types have roofs, two of them the same one.
awk 'BEGIN {
    n = split("fwd bwd wrw", d, " "); split("f32 f16 bf16 i8", t, " ")
    for (i = 0; i < 60; i++)
        printf "{\"schema\":1,\"problem\":\"%s-%s-n128-c%d-k1024-i1024x1024-f7x7-s2x2-p3x3-d2x2-g32\",\"device\":\"a card\",\"solver\":\"ConvOclDirectFwd1x1\",\"config\":\"1,64,1,1,1,1,16,2048,0\",\"best_ms\":%g,\"guess_ms\":%g,\"turns\":8,\"turns_won\":%d}\n",
            d[i % 3 + 1], t[i % 4 + 1], 32 * (i + 1), 10 ^ (i / 6 - 4), 2 * 10 ^ (i / 6 - 4), i % 9
}' >results.jsonl
# A search over sixteen values of two params with the longest names, and a stopped one.
awk 'BEGIN {
    for (i = 0; i < 256; i++)
        printf "{\"schema\": 1, \"kind\": \"trial\", \"time\": \"2026-01-02T10:%02d:%02dZ\", \"problem\": \"%s\", \"key\": \"%s\", \"index\": %d, \"solver\": \"direct\", \"version\": 1, \"config\": \"%.0f,%.0f\", \"params\": \"T_A_PARAMETER_WITH_A_LONG_NAME_1,T_A_PARAMETER_WITH_A_LONG_NAME_2\", \"origin\": \"%s\", \"verdict\": \"ok\", \"ms\": %g, \"expected_ms\": 3, \"seconds\": 1, \"device\": \"a card\"}\n",
            i / 60, i % 60, p = i % 2 ? "fwd-f32-n1-c16-k16-i8x8-f3x3-p1x1" : "fwd-f32-n1-c3-k5-i8x8-f5x5-s3x3-p2x2",
            p, i, i % 16 < 15 ? i % 16 : 9e18, 10 ^ int(i / 16), i < 2 ? "guess" : "grid", 12345 + i * 1e6
}' >log.trials.jsonl
expect 0 report results.jsonl log.trials.jsonl --limits none --peak 1000 --peak f16=9000000 \
    --peak bf16=9000000 --peak i8=8800000 --bandwidth 50 -o page.html
judge page.html 'filter("", "62 62 "); filter("bwd -f16-", "5 5 5 of 62"); filter("!bwd -f16-", "10 10 10 of 62"); filter("nowhere", "0 0 0 of 62"); filter("!", "62 62 ");'

# One layer; rows of several devices, of before rows had turns, and the shipped ones; and nothing.
head -n 1 results.jsonl >one.jsonl
expect 0 report one.jsonl --limits none --peak 1000 --bandwidth 50 -o one.html
judge one.html ''
expect 0 report "$KILN_TEST_DATA"/rows/*.yaml "$KILN_TEST_DATA"/../../tuning-db/*.yaml --limits none -o shipped.html
judge shipped.html ''
expect 0 report one.jsonl --limits none --match nothing -o none.html
judge none.html ''
