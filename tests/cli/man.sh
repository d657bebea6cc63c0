#!/bin/sh
# The manual page names every flag of the help, with its letter and its value; all pages translate.
. "$(dirname "$0")/common"
man=$(dirname "$0")/../../man

expect 0 conv --help
sed 's/[\\*_]//g' "$man/kiln.1.scd" >page # without scdoc's marks
sed -n 's/^  \(-.,\)\{0,1\} *\(--[A-Za-z][^ ]*\)\( [^ ]*\)\{0,1\}.*/\1 \2\3/p' out | sed 's/^ //; s/_//g' >flags
[ "$(wc -l <flags)" -gt 60 ] || fail 'the help has too few flags to be it'
while read -r flag; do
    grep -Fxq -e "$flag" page || fail "kiln.1.scd has no line '$flag'"
done <flags

for word in conv model emit tune report explain prepare layout cache db doctor completion env help version; do
    grep -q "^\*.*\*$word\*" "$man/kiln.1.scd" || fail "kiln.1.scd has no word $word"
done
expect 0 tune --help
sed -n 's/^  \(--[a-z-]*\).*/\1/p' out >options
[ "$(wc -l <options)" -gt 15 ] || fail 'the help of tune has too few options to be it'
while read -r option; do
    grep -q -e "^$option\( \|,\|$\)\|, $option" page || fail "kiln.1.scd has no option $option of tune"
done <options
expect 0 conv --help
sed -n 's/^  \(KILN_[A-Z_]*\) .*/\1/p' out >variables
[ -s variables ] || fail 'the help names no variables'
while read -r variable; do
    grep -Fxq "*$variable*" "$man/kiln.1.scd" || fail "kiln.1.scd has no variable $variable"
done <variables

if command -v scdoc >/dev/null; then
    for page in "$man"/*.scd; do
        scdoc <"$page" >out 2>err || fail "scdoc refuses $page"
    done
fi
