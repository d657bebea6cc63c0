#!/bin/sh
# `kiln db`: what each word does to files of tuning rows, and what it refuses.
. "$(dirname "$0")/common"

row() { # key, version, config, ms
    echo "- {key: \"$1\", solver: ConvOclDirectFwd1x1, version: $2, config: \"$3\", ms: $4}"
}
head_of() { printf '# mine\nschema: 1\ndevice: "%s"\nrows:\n' "$1"; }
seed=fwd-f32-n16-c192-k64-i28x28-f1x1
other=fwd-f32-n1-c64-k64-i8x8-f1x1
tuned=1,64,1,1,1,1,16,2048,0
{
    head_of card
    row $seed 1 $tuned 3
    echo '# the second try'
    row $seed 1 1,64,1,1,1,0,16,2048,0 2
    row $other 1 $tuned 1
} >a.yaml
{
    head_of card
    echo '# measured at night'
    row $seed 1 1,64,1,1,1,1,32,2048,0 1.5
    row $other 1 $tuned 1
} >b.yaml

expect 0 db --help
says '^usage: kiln db list .FILE.$'
expect 2 db
expect 2 db burn a.yaml
warns 'unknown word burn'
expect 2 db list a.yaml b.yaml
warns '^kiln db: list takes 0 to 1 files, not 2 '
expect 2 db diff a.yaml
warns '^kiln db: diff takes 2 files, not 1 \(--help explains\)$'
expect 2 db list a.yaml -o x
expect 5 db list missing.yaml
warns 'missing.yaml'

expect 0 db list a.yaml
says '^a.yaml: rows of device "card"$'
says "^ +2 +- +- .*$seed  ConvOclDirectFwd1x1/1  1,64,1,1,1,0,16,2048,0$"
lacks '^ +3 '


# Without a file the word takes the user's.
expect 0 db list
says 'rows.yaml: no such file yet; '
cp a.yaml rows.yaml
expect 0 db list
says "rows.yaml: rows of device \"card\"$"
own=$KILN_DB
export KILN_DB=off
expect 0 db lint
says 'are switched off: KILN_DB=off'
export KILN_DB="$own"

expect 0 db lint a.yaml b.yaml
says '^5 rows, 0 errors, 0 notes$'
{
    head_of card
    row $seed 1 1,64,1,1,1,9,0,2048,0 1
    row $seed 77 $tuned 1
    row fwd-f32-n16 1 $tuned 1
    row 192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP32-F 1 $tuned 1
    row $seed 1 1,2 1
    row $seed 1 '' 1
    echo "- {key: $seed, solver: nobody, version: 1, config: \"1\"}"
    echo '- {key: &a x}'
    printf '%s\n' '- {key: "\e[31m", solver: naive, version: 1, config: ""}'
    printf -- '- {key: cut'
} >bad.yaml
expect 5 db lint bad.yaml
says '^bad.yaml:5: error: .*0'
says '^bad.yaml:6: note: of version 77 '
says '^bad.yaml:7: error: the key fwd-f32-n16: '
says "^bad.yaml:8: error: .*write $seed$"
says '^bad.yaml:9: error: .*"1,2"'
says '^bad.yaml:10: error: the config "" '
says '^bad.yaml:11: error: .*nobody'
says '^bad.yaml:12: error: .*anchors'
says '^bad.yaml:13: error: key has a control character'
says '^bad.yaml:14: error: .*cut short'
says '^7 rows, 9 errors, 1 note$'

# A file without rows is not called clean.
echo nonsense >nonsense.yaml
expect 5 db prune nonsense.yaml
warns '^kiln db: nonsense.yaml: no line "rows:" here: not a file of tuning rows$'
expect 5 db list nonsense.yaml
warns '^kiln db: nonsense.yaml: no line "rows:" here: not a file of tuning rows$'
silent out
expect 5 db diff a.yaml nonsense.yaml
warns '^kiln db: nonsense.yaml: no line'
expect 5 db diff nonsense.yaml a.yaml
expect 5 db merge nonsense.yaml a.yaml
silent out
expect 5 db list /dev/null
expect 5 db list .

# Rows of other versions of a solver are not used, so they are not listed.
{
    head_of card
    row $seed 77 $tuned 1
    row $other 1 $tuned 1
} >versions.yaml
expect 0 db list versions.yaml
lacks "$seed"
says "$other  ConvOclDirectFwd1x1/1 "
says '^1 row of other versions of their solvers left out; prune drops them$'

expect 1 db diff a.yaml b.yaml
says "^- +2 .*$seed .*1,64,1,1,1,0,16,2048,0$"
says "^\+ +1.5 .*$seed .*1,64,1,1,1,1,32,2048,0$"
lacks "$other"
expect 0 db diff a.yaml a.yaml
silent out

expect 0 db merge a.yaml b.yaml -o merged.yaml
{
    head_of card
    row $other 1 $tuned 1
    echo '# measured at night'
    row $seed 1 1,64,1,1,1,1,32,2048,0 1.5
} >wanted.yaml
cmp merged.yaml wanted.yaml || fail 'the merged file is another'
expect 0 db merge a.yaml b.yaml
cmp out wanted.yaml || fail 'the merged output is another'
expect 5 db merge a.yaml b.yaml -o b.yaml
head_of chip >chip.yaml
expect 5 db merge a.yaml chip.yaml -o none.yaml
warns 'chip'
expect 5 db merge a.yaml b.yaml -o no/such/folder.yaml
warns 'no/such/folder.yaml'
[ ! -e none.yaml ] || fail 'a refused merge wrote a file'

{
    cat a.yaml
    row $seed 77 $tuned 9
    echo 'a line of nonsense'
} >old.yaml
chmod 600 old.yaml
ln -s old.yaml link.yaml
expect 0 db prune link.yaml
says 'dropped 2 rows'
{
    head_of card
    echo '# the second try'
    row $seed 1 1,64,1,1,1,0,16,2048,0 2
    row $other 1 $tuned 1
    echo 'a line of nonsense'
} >wanted.yaml
cmp old.yaml wanted.yaml || fail 'the pruned file is another'
[ -L link.yaml ] || fail 'the link is gone'
[ "$(stat -c %a old.yaml)" = 600 ] || fail 'the mode changed'
expect 0 db prune old.yaml
says 'nothing to drop'
ls ./*.tmp 2>/dev/null && fail 'a temporary file was left'
# What the warning of a run promises: rows that no problem can use are dropped, also those of solvers
# that need a device.
{
    head_of card
    row $seed 1 ${tuned%,0} 1
    row $other 1 1,64,1,1,1,1,999,2048,0 1
    row fwd-f32-n2-c64-k64-i8x8-f1x1 1 one,64,1,1,1,1,16,2048,0 1
    row fwd-f32-n3-c64-k64-i8x8-f1x1 1 '' 1
    row fwd-f32-n4-c64-k64-i8x8-f1x1 1 $tuned 1 | sed 's/ConvOclDirectFwd1x1/ConvOclDirectFwd2x2/'
    row fwd-f16-n5-c64-k64-i8x8-f1x1 77 1,1 1 | sed 's/ConvOclDirectFwd1x1/gemm_mma/'
    row fwd-f16-n6-c64-k64-i8x8-f1x1 1 1,1 1 | sed 's/ConvOclDirectFwd1x1/gemm_wgmma/'
} >useless.yaml
expect 0 db prune useless.yaml
says 'dropped 7 rows'

# A run tells when a guess replaces the rows that were named; a file that cannot be used is an
# error.
run='conv -n 1 -c 64 -H 8 -W 8 -k 64 -y 1 -x 1 -F 1 --dry-run'
export KILN_DB=missing.yaml
# shellcheck disable=SC2086
expect 0 $run
says '^config .* guessed'
warns '^kiln: warning: KILN_DB names missing.yaml, which is not there: .* -s 1\) makes it$'
[ "$(wc -l <err)" -eq 1 ] || fail 'kiln warned of the missing file more than once'
for file in nonsense.yaml .; do
    export KILN_DB="$file"
    # shellcheck disable=SC2086
    expect 5 $run
    warns "^kiln: KILN_DB: $file(:1)?[: ].*; mend it, or name another or \"off\"$"
    lacks '^config'
    expect 5 env
    expect 0 cache show
done
# shellcheck disable=SC2086
KILN_DB=nonsense.yaml expect 5 $run --json
says '"status":5,"error":"KILN_DB: nonsense.yaml:1: '
{
    head_of any
    row $other 77 $tuned 1
    echo 'a line of nonsense'
} >bad.yaml
export KILN_DB=bad.yaml
# shellcheck disable=SC2086
expect 0 $run
says '^config .* guessed'
warns '^kiln: warning: bad.yaml:6: .*; skipped: mend or delete it$'
warns "^kiln: warning: bad.yaml:[0-9]+: the row of $other is not used: it is of version 77 of solver ConvO"
expect 5 db lint
says '^bad.yaml:6: error: '
# Rows of another device are listed, and a plan without a device uses them. A run does not use them
# and adds none.
export KILN_DB=a.yaml
cp a.yaml before.yaml
expect 0 db list
silent err
says "^ +1 +- +- .*$other  ConvOclDirectFwd1x1/1  $tuned$"
# shellcheck disable=SC2086
expect 0 $run
silent err
says "^config $tuned of ConvOclDirectFwd1x1 from the user's tuning rows a.yaml$"
# shellcheck disable=SC2086
expect 0 ${run% --dry-run}
warns '^kiln: warning: a.yaml holds rows of the device "card", not ".+": they are not used; name ano'
lacks 'tuning rows'
# shellcheck disable=SC2086
expect 5 ${run% --dry-run} -s 1
warns '^kiln: a.yaml holds rows of the device "card", not ".+"; name another file in KILN_DB$'
lacks '^search'
cmp a.yaml before.yaml || fail 'the rows of another device have changed'
unset KILN_DB
export XDG_DATA_HOME="$KILN_SANDBOX/data"
# shellcheck disable=SC2086
expect 0 $run
silent err
export KILN_DB="$own"

# Rows of before they had turns have no errors; a search's file does not say that it is shipped.
expect 0 db lint "$KILN_TEST_DATA"/rows/*.yaml
says '^266 rows, 0 errors, '
expect 0 db list "$KILN_TEST_DATA/rows/h100.yaml"
says '^ +0.01398 +- +- +2026-11-27  fwd-f32-n1-c3-k64-i224x224-f7x7-s2x2-p3x3  gemm/'

# The shipped files have no errors.
for file in "$(dirname "$0")"/../../tuning-db/*.yaml; do
    expect 0 db lint "$file"
    case $file in */generic.yaml) ;; *) grep -q '^shipped: 1$' "$file" || fail "$file does not say that it is shipped" ;; esac
    # A row of one device may need more than every device has.
    case $file in */generic.yaml) says ' 0 errors, 0 notes$' ;; *) says ' 0 errors, ' ;; esac
done
