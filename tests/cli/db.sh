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
expect 2 db diff a.yaml
expect 2 db list a.yaml -o x
expect 5 db list missing.yaml
warns 'missing.yaml'

expect 0 db list a.yaml
says '^a.yaml: rows of device "card"$'
says "^ +2 +0.0%.*$seed  ConvOclDirectFwd1x1/1  1,64,1,1,1,0,16,2048,0$"
lacks '^ +3 '


# Without a file it is the user's.
expect 0 db list
says 'rows.yaml: not there yet; '
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

# What holds no rows is not called clean.
echo nonsense >nonsense.yaml
expect 5 db prune nonsense.yaml
warns '^kiln db: nonsense.yaml is not a file of tuning rows: no line "rows:"'

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

# What is shipped is in order.
for file in "$(dirname "$0")"/../../tuning-db/*.yaml; do
    expect 0 db lint "$file"
    # What a device's rows need, not every device has.
    case $file in */generic.yaml) says ' 0 errors, 0 notes$' ;; *) says ' 0 errors, ' ;; esac
done
