#!/bin/sh
# kiln tune: what crashes or hangs costs its trial only; a kill or Ctrl-C loses nothing; the same
# command goes on.
. "$(dirname "$0")/common"
export KILN_CACHE_DIR="$KILN_SANDBOX/programs"
templates=$(dirname "$0")/../../templates
cat >list <<'TEXT'
# a log around driver lines
MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver conv -n 1 -c 16 -H 4 -W 4 -k 16 -y 1 -x 1 -F 1
./bin/MIOpenDriver conv -n 1 -c 16 -H 4 -W 4 -k 16 -y 1 -x 1 -F 1
./bin/MIOpenDriver pool -n 1 -c 16 -H 4 -W 4
./bin/MIOpenDriver conv -n 1 -c 16 -H 5 -W 5 -k 16 -y 3 -x 3 -F 0
TEXT

# The list: problems once, with their number; shards cover it, each problem in one.
expect 0 tune list --dry-run
says '^fwd-f32-n1-c16-k16-i4x4-f1x1  # 2$'
[ "$(wc -l <out)" -eq 4 ] || fail 'there are not four problems'
warns '^skipped, no convolutions: 1 pool$'
cp out whole
for by in cost key; do
    : >parts
    for i in 1 2 3; do
        expect 0 tune list --dry-run --shard $i/3 --shard-by $by
        cat out >>parts
    done
    sort parts >sorted
    sort whole | cmp -s - sorted || fail "shards by $by are not the whole"
done
expect 0 tune list --dry-run --shard 3/3
expect 0 tune list --dry-run --types f16,bf16 -F 2
says '^bwd-f16-.*i5x5'
says '^bwd-bf16-.*i5x5'
for wrong in '--shard 4/3' '--seconds soon' '--types f31' '--trials -1' '--shard-by size' \
    '--jobs -1' '--solvers naive,nobody' '--batch list' '--json --csv' '--match zzz'; do
    # shellcheck disable=SC2086
    expect 2 tune list $wrong
    warns "$(echo "$wrong" | cut -d' ' -f1)"
done
expect 2 tune
warns 'name a file of problems'
expect 2 tune list --secnds 3
# Rows that cannot be kept end the run before its first problem, in one sentence.
printf 'schema: 1\ndevice: "card"\nrows:\n' >card.yaml
KILN_DB=card.yaml expect 5 tune list
warns '^kiln tune: card.yaml holds rows of the device "card", not ".*"; name another file in KILN_DB$'
[ "$(wc -l <err)" -eq 1 ] || fail 'not one sentence'
silent out
KILN_DB=/proc/rows.yaml expect 5 tune list
warns '^kiln tune: cannot write tuning rows to /proc/rows.yaml: .*; name another file in KILN_DB$'
[ "$(wc -l <err)" -eq 1 ] || fail 'not one sentence'
silent out
expect 5 tune nowhere
expect 3 tune list --match f1x1 --solvers winograd_fused
warns 'winograd_fused: '

# A search, its rows and its log; the same command has nothing left to do; another limit has.
expect 0 tune list --match f1x1 --solvers naive,13 --trials 3 --seconds 0
says '^fwd-f32-n1-c16-k16-i4x4-f1x1 +[0-9.e-]+ +[0-9.e-]+ +[0-9.]+  .*$'
says '^1 tuned, 0 tuned before, 0 failed, 0 left; gain .*rows.yaml$'
says '^3 trials in '
grep -q '"fwd-f32-n1-c16-k16-i4x4-f1x1"' rows.yaml || fail 'no row was kept'
[ "$(grep -c '"kind": "trial"' rows.trials.jsonl)" -eq 3 ] || fail 'the log has not three trials'
expect 0 tune list --match f1x1 --solvers naive,13 --trials 3 --seconds 0 --json
says '"state":"tuned before"'
warns '^0 trials in '
expect 0 tune list --match f1x1 --solvers naive --trials 1 --seconds 0 --no-isolate
says '^1 tuned, '

# A log may hold any number: no gain has hundreds of digits.
cp rows.trials.jsonl kept.jsonl
sed -i '/"kind": "search"/s/"ms": [0-9.e+-]*/"ms": 1e-300/; /"kind": "search"/s/"guess_ms": [0-9.e+-]*/"guess_ms": 1e5/' \
    rows.trials.jsonl
expect 0 tune list --match f1x1 --solvers naive --trials 1 --seconds 0 --profile
says ' 1.00e\+305  naive'
lacks '[0-9]{40}'
mv kept.jsonl rows.trials.jsonl
# The last of very many flags counts, too.
# shellcheck disable=SC2046
expect 0 tune list --dry-run $(i=0; while [ $i -lt 200 ]; do echo "-V $((i % 2))"; i=$((i + 1)); done) --match 'f1x1'
[ "$(wc -l <out)" -eq 1 ] || fail 'the last flag was dropped'

# Rows that are gone, or of another version, come back from the log; a winner of another version is
# no winner.
expect 0 tune list --match '-f3x3' --solvers naive --trials 1 --seconds 0 --jobs 0
says '^3 tuned, '
sort rows.yaml >rows.all
for spoil in '/^- {/d' '$d' 's/, version: \([0-9]*\)/, version: \199/' 's/solver: "naive"/solver: "knave"/' \
    's/^- {key/- {kei/'; do
    sed -i "$spoil" rows.yaml
    for isolate in '' --no-isolate; do
        # shellcheck disable=SC2086
        expect 0 tune list --match '-f3x3' --solvers naive --trials 1 --seconds 0 --jobs 0 $isolate
        says '^0 tuned, 3 tuned before, 0 failed, 0 left; '
        says '^0 trials in '
        [ -n "$isolate" ] || says '^[1-3] rows? of problems tuned before (was|were) gone'
    done
    lacks 'gone, and'
    [ -z "$(sort rows.yaml | comm -23 rows.all - | grep f3x3)" ] || fail "a row is still gone after $spoil"
done
rm rows.yaml
expect 0 tune list --match '-f3x3' --solvers naive --trials 1 --seconds 0 --jobs 0
[ "$(grep -c '^- {.*f3x3' rows.yaml)" -eq 3 ] || fail 'three rows do not come back after rm'
expect 0 db lint rows.yaml
sed -i 's/"version": [0-9]*/"version": 77/' rows.trials.jsonl
expect 0 tune list --match '-f3x3' --solvers naive --trials 1 --seconds 0 --jobs 0
says '^3 tuned, 0 tuned before'
expect 0 tune list --match f1x1 --solvers naive --trials 1 --seconds 0 --fresh --no-isolate
says '^1 trial in '

# A row names the next best config. On a busy machine a search may find all others too slow to name.
for try in 1 2 3 4 5; do
    grep -q '"fwd-f32-n1-c16-k16-i4x4-f1x1".*second: "' rows.yaml && break
    [ $try -lt 5 ] || fail 'no row with a second was kept'
    expect 0 tune list --match f1x1 --solvers 13 --trials 8 --seconds 0 --fresh
done

# The winners' programs are in the cache, kiln's or PoCL's: a run adds none.
(
    export POCL_CACHE_DIR="$KILN_SANDBOX/pocl" KILN_CACHE_DIR="$KILN_SANDBOX/winners" KILN_DB="$KILN_SANDBOX/w.yaml"
    kept() { find pocl winners -name '*.so' -o -name '*.bin' -o -path 'winners/*' -type f | sort; }
    mkdir -p pocl winners
    expect 0 tune list --match f1x1 --solvers 13 --trials 2 --seconds 0
    kept >before
    [ -s before ] || fail 'no program was kept'
    expect 0 conv -n 1 -c 16 -H 4 -W 4 -k 16 -y 1 -x 1 -F 1 -S 13 # whatever a busy machine measured
    says 'of ConvOclDirectFwd1x1 from the user'
    kept | cmp -s - before || fail 'the winner was compiled again'
)

# Patience: so many trials of the grid without a faster config end the search. The grid has hundreds,
# so that noise does not make each of 60 the fastest so far.
expect 0 tune list --match f1x1 --solvers direct --seconds 0 --trials 60 --patience 2 --jobs 0 --fresh
trials=$(sed -n 's/^\([0-9]*\) trials* in .*/\1/p' out)
[ "$trials" -lt 60 ] || fail "patience tried $trials configs"
# No time at all leaves every problem for the next run.
expect 0 tune list --total-time 0.001 --fresh
says '^0 tuned, 0 tuned before, 0 failed, 4 left; '

# A kernel that crashes, and one that does not end.
plant() { # line that every item begins with
    rm -rf planted
    mkdir planted
    awk -v line="$1" '/^kernel .*void naive\(/ { k = 1 } { print } k && /^\{/ { print line; k = 0 }' \
        "$templates/naive/naive.cl" >planted/naive.cl
}
if [ "$KILN_DEVICE" = cpu ]; then
    export KILN_TEMPLATES="$KILN_SANDBOX/planted"
    plant '*(volatile global int *)1 = 1;'
    expect 0 tune list --match f1x1 --solvers naive,13 --trials 3 --seconds 0 --jobs 1
    warns 'f1x1: naive: crashed: signal 11 .*; it is not tried again'
    says '^[0-9]+ trials? in .*, 1 crashed'
    expect 0 tune list --match f1x1 --solvers naive,13 --trials 4 --seconds 0
    if grep -q crashed err out; then fail 'what crashed was tried again'; fi
    expect 0 tune list --match f1x1 --solvers naive,13 --trials 3 --seconds 0 --fresh
    says '1 crashed'
    # A template that changes all the time makes each try a new one: two are enough.
    plant '*(volatile global int *)1 = 1;'
    while sleep 0.05; do echo '//' >>planted/naive.cl; done &
    churn=$!
    status=0
    timeout 60 "$KILN_COMMAND" tune list --match f1x1 --solvers naive --jobs 0 >out 2>err || status=$?
    kill "$churn"
    [ "$status" -eq 4 ] || fail "a config that crashes again and again gave $status"
    warns 'config "" of naive ended its process twice \(.*signal 11'
    plant 'for (volatile int i = 1; i;) ;'
    expect 4 tune list --match f1x1 --solvers naive --jobs 0 --memory 1
    warns '; or --memory is too small for its driver$'
    expect 3 tune list --match f1x1 --solvers naive --jobs 0 --trial-limit 4
    warns 'f1x1: naive: timeout: it took longer than 4 s'
    grep -q '"verdict": "timeout"' rows.trials.jsonl || fail 'the log has no timeout'
    unset KILN_TEMPLATES
fi

# Ctrl-C ends after the trial: the best so far is kept, and the rest is left.
"$KILN_COMMAND" tune list -F 1 --solvers 13,naive,direct --jobs 0 --fresh >out 2>err &
run=$!
waits=0
trials() { grep -c '"kind": "trial"' rows.trials.jsonl; }
before=$(trials)
until [ "$(trials)" -gt "$before" ]; do
    kill -0 "$run" 2>/dev/null || break
    waits=$((waits + 1))
    [ "$waits" -lt 600 ] || fail 'the run did not start'
    sleep 0.1
done
kill -s INT "$run" 2>/dev/null || true
status=0
wait "$run" || status=$?
[ "$status" -eq 130 ] || fail "a run that SIGINT ended gave $status"
says 'the same command goes on with what is left'

# A log that can no longer be written, as on a full disk, ends the run and not each problem by itself.
for isolate in '' --no-isolate; do
    rm -rf kept.*
    # shellcheck disable=SC2086
    KILN_DB=kept.yaml "$KILN_COMMAND" tune list -F 1 --solvers 13,naive,direct --jobs 0 $isolate \
        >out 2>err &
    run=$!
    waits=0
    until [ -s kept.trials.jsonl ]; do
        waits=$((waits + 1))
        [ "$waits" -lt 600 ] || fail 'the run did not start'
        sleep 0.1
    done
    until [ -d kept.trials.jsonl ]; do
        rm -f kept.trials.jsonl
        mkdir kept.trials.jsonl 2>/dev/null || true
    done
    status=0
    wait "$run" || status=$?
    [ "$status" -eq 5 ] || fail "a run whose log is gone gave $status"
    warns 'cannot write the log of trials kept.trials.jsonl: Is a directory; name another file of rows'
    [ "$(grep -c 'Is a directory' err)" -eq 1 ] || fail 'more than one problem failed'
    says '1 failed, [1-9] left; '
    says '^stopped, as no other result could be kept either; the same command goes on with what is left$'
done

# What a program runs, with its numbers, and the gain for all of it.
export KILN_LOG_CMD="$KILN_SANDBOX/calls"
expect 0 conv -n 1 -c 16 -H 4 -W 4 -k 16 -y 1 -x 1 -F 1 -S naive -i 4 -t 1
expect 0 explain -n 1 -c 16 -H 4 -W 4 -k 16 -y 1 -x 1 -F 1
unset KILN_LOG_CMD
grep -Eq '^kiln conv --problem fwd-f32-n1-c16-k16-i4x4-f1x1  # [5-9] runs$' calls || {
    cp calls out
    fail 'the calls were not logged'
}
expect 0 tune calls --profile --solvers naive,13 --trials 3 --seconds 0 --jobs 0
says '^fwd-f32-n1-c16-k16-i4x4-f1x1 +[5-9] '
says '^the program: .* ms with guesses, .* ms tuned: .* times as fast$'

# Two devices of one kind share the problems and one file of rows.
if [ "$KILN_DEVICE" = cpu ] && "$KILN_COMMAND" --list-devices | grep -q '"Portable Computing'; then
    export KILN_DB="$KILN_SANDBOX/two.yaml" POCL_DEVICES='pthread pthread'
    unset KILN_DEVICE
    expect 0 tune list -F 1 --device all --solvers naive --jobs 0
    says '^4 tuned, 0 tuned before, 0 failed, 0 left; '
    says '^4 trials in .* on 2 devices'
fi
