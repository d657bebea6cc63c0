#!/bin/sh
# Parts of a list: the division is said or certain, never guessed; a merge tells what is missing.
. "$(dirname "$0")/common"
for size in 4 5 6 7; do
    echo "conv -n 1 -c 16 -H $size -W $size -k 16 -y 1 -x 1 -F 1"
done >list
set -- list --solvers naive --trials 1 --seconds 0 --jobs 0
unset SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_COUNT SLURM_ARRAY_TASK_MIN SLURM_ARRAY_TASK_MAX \
    SLURM_ARRAY_TASK_STEP 2>/dev/null || true

# slurm STATUS ID MIN MAX STEP COUNT WORDS...: kiln as a task of an array.
slurm() {
    wanted=$1
    export SLURM_ARRAY_TASK_ID="$2" SLURM_ARRAY_TASK_MIN="$3" SLURM_ARRAY_TASK_MAX="$4" \
        SLURM_ARRAY_TASK_STEP="$5" SLURM_ARRAY_TASK_COUNT="$6"
    shift 6
    expect "$wanted" "$@"
    unset SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_COUNT SLURM_ARRAY_TASK_MIN SLURM_ARRAY_TASK_MAX \
        SLURM_ARRAY_TASK_STEP
}

# A whole array 1-N is a division; a part of one, an array with gaps or from 0 is not.
: >parts
for i in 1 2 3; do
    slurm 0 $i 1 3 1 3 tune list --dry-run
    cat out >>parts
done
[ "$(sort -u parts | wc -l)" -eq 4 ] && [ "$(wc -l <parts)" -eq 4 ] || fail 'the array is not the whole'
while read -r array; do
    # shellcheck disable=SC2086
    slurm 2 $array tune list --dry-run
    warns '^kiln tune: task [0-9]+ of a Slurm array .*; say --shard I/N, such as --shard \$SLURM_ARRAY_TASK_ID/N'
    # shellcheck disable=SC2086
    slurm 0 $array tune list --dry-run --shard 2/3
    warns ', 3 of other shards|, 2 of other shards'
done <<TEXT
3 3 3 1 1
1 1 1 1 1
2 2 5 3 2
4 1 9 1 3
3 1 7 2 4
0 0 15 1 16
5 5 7 1 3
TEXT
slurm 0 3 3 3 1 1 tune list --dry-run --shard 1/1
[ "$(wc -l <out)" -eq 4 ] || fail 'the part 1/1 is not the whole'

# Far more shards than problems take no time, and every problem is in one of the first.
expect 0 tune list --dry-run --shard 4/999999999
[ "$(wc -l <out)" -eq 1 ] || fail 'the fourth of many shards has not one problem'
expect 0 tune list --dry-run --shard 5/999999999
silent out

# Tune the parts; the last one has nothing to do, and its file says so.
for i in 1 2 3 4 5; do expect 0 tune "$@" --shard $i/5; done
warns 'this shard has none of the 4 problems'
[ ! -f rows.yaml ] || fail 'a part wrote to the main file'
expect 0 db merge rows.shard-*.yaml -o all.yaml
silent err
[ "$(grep -c '^- {' all.yaml)" -eq 4 ] || fail 'the merged rows are not four'
if grep -q '# part' all.yaml; then fail 'the whole is called a part'; fi
expect 0 db lint all.yaml
expect 0 db lint rows.shard-1-of-5.yaml

# What is missing is named, be it parts or rows of a part that has not ended.
expect 1 db merge rows.shard-1-of-5.yaml rows.shard-4-of-5.yaml -o some.yaml
warns '^kiln db: missing: part 2 to 3, 5 of 5$'
grep -q '^- {' some.yaml || fail 'what is there was not merged'
for file in rows.shard-*.yaml; do cp "$file" "kept-${file#rows.}"; done
sed -i '/^- {/d' kept-shard-2-of-5.yaml
expect 1 db merge kept-shard-*.yaml -o some.yaml
warns '^kiln db: missing: fwd-f32-n1-c16-k16-i[4-7]x[4-7]-f1x1 has no row$'
[ "$(wc -l <err)" -eq 1 ] || fail 'more than one line'

# Parts of two divisions, or of two lists, do not belong together.
expect 0 tune "$@" --shard 1/2
expect 2 db merge rows.shard-1-of-5.yaml rows.shard-1-of-2.yaml -o none.yaml
warns 'rows.shard-1-of-5.yaml is part 1 of 5 .*, rows.shard-1-of-2.yaml is part 1 of 2 '
[ ! -f none.yaml ] || fail 'parts of two divisions were merged'
head -n 3 list >shorter
KILN_DB=other.yaml expect 0 tune shorter --solvers naive --trials 1 --seconds 0 --jobs 0 --shard 2/5
expect 2 db merge rows.shard-1-of-5.yaml other.shard-2-of-5.yaml -o none.yaml
warns 'rows.shard-1-of-5.yaml is part 1 of 5 .*, other.shard-2-of-5.yaml is part 2 of 5 '

# An array that may be a part of a larger one: files of another division are there.
slurm 2 1 1 3 1 3 tune "$@"
warns 'rows.shard-[0-9]-of-[25].yaml is one of [25] parts, and this Slurm array has 3 tasks; say --shard I/[25] '
rm rows.shard-1-of-2.yaml
slurm 0 1 1 5 1 5 tune "$@"
says ' 1 tuned before, '

# Layouts that a list leaves open are chosen by the search.
echo 'conv -n 1 -c 16 -H 4 -W 4 -k 16 -y 1 -x 1 -F 1 -I any -O any' >open
for i in 1 2; do KILN_DB=open.yaml expect 0 tune open --seconds 0 --trials 1 --jobs 0 --shard $i/2; done
expect 0 db merge open.shard-*.yaml -o all.yaml
silent err
