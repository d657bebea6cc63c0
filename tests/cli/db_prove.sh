#!/bin/sh
# `kiln db prove`: rows that win in turns say so, all others go. Shipped files must have such rows.
. "$(dirname "$0")/common"
templates=$(dirname "$0")/../../templates

small=fwd-f32-n1-c16-k16-i8x8-f1x1
large=fwd-f32-n1-c512-k16-i28x28-f3x3-p1x1
expect 0 conv --problem $small -V 0 -S naive -P 1
version=$(sed -n 's/^solver .*naive, version \([0-9]*\).*/\1/p' out)
row() { # key, more fields
    echo "- {key: \"$1\", solver: \"naive\", version: $version, config: \"\", ms: 7, spread: 0.5${2:-}}"
}
expect 0 conv --problem $small -V 0 -P 1
device=$("$KILN_COMMAND" env | sed -n 's/^device [0-9:]* \(.*\) (.*/\1/p')
head_of() { printf '# mine\nschema: 1\n%sdevice: "%s"\nrows:\n' "$1" "$device"; }

# A CPU's kernels but naive do their items by items.cl. A delay there makes naive the faster one for
# the small problem; for the large problem it is the slower one, delay or not.
[ "$KILN_DEVICE" = cpu ] || skip 'it plants a delay into kernels for CPUs'
mkdir planted
delay='for (volatile int d = 0; d < 100000; d++) ;'
sed "s/^        call; */        $delay call; /; s/given) call;$/given) $delay call;/" \
    "$templates/items.cl" >planted/items.cl
[ "$(grep -c 'volatile int d' planted/items.cl)" -eq 3 ] || fail 'nothing was planted'
guess=$(sed -n 's/^config  *\([0-9,]*\) (guess)$/\1/p' out)
guess_solver=$(sed -n 's|^solver  *[0-9]*/\([a-z_A-Z0-9]*\), version.*|\1|p' out)
guess_version=$(sed -n 's|^solver .*, version \([0-9]*\).*|\1|p' out)
export KILN_TEMPLATES="$KILN_SANDBOX/planted"

{
    head_of 'shipped: 1
'
    row $large ', second: "none", second_ms: 9'
    echo '# this one wins'
    row $small ', future: 1'
    echo "- {key: \"$small\", solver: \"$guess_solver\", version: $guess_version, config: \"$guess\", ms: 1}"
    row $large ', core: "another core"'
    echo '# the end'
} >proven.yaml
cp proven.yaml unproven.yaml

# Lint names line, row and remedy, and only of files that say that they are shipped.
expect 5 db lint unproven.yaml
says "^unproven.yaml:6: error: $large: not believed: it was not timed in turns with the guess; measure it again on its device \(kiln db prove\) or delete it$"
says '^4 rows, 4 errors, 0 notes$'
sed '/^shipped: 1/d' unproven.yaml >users.yaml
expect 0 db lint users.yaml

core=$("$KILN_COMMAND" conv --problem $small -V 0 -S naive -s 1 >/dev/null 2>&1; sed -n 's/.*core: "\([^"]*\)".*/\1/p' rows.yaml)
expect 0 db prove proven.yaml --jobs 1
says "^$large  naive: row .* ms, guess .* ms, 0\.[0-9]* times, won 0/16, .*; dropped: it beat the guess in 0 of 16 "
says "^$small  naive: row .* ms, guess .* ms, [0-9.]* times, won 1[2-6]/16, spread .* %; kept$"
says "^$small  $guess_solver: dropped: its config is the guess, which needs no row$"
grep -Eq "^- \{key: \"$small\", solver: \"naive\", .*, iqr: .*, guess: \"$guess of $guess_solver\", guess_ms: [0-9.e+-]+, turns: 16, turns_won: 1[2-6], win_iqr: .*, hash: " proven.yaml ||
    fail 'the row does not tell of its turns'
if grep "\"$small\"" proven.yaml | grep -q 'spread\|second\|future\|ms: 7'; then
    fail 'the row keeps what was measured at another time'
fi
if [ -n "$core" ]; then
    says '^1 row kept, 2 dropped, 0 proven before, 0 not measured$'
    says '^1 of another CPU left as they are$'
    { # comments, order, and rows of others stay
        head_of 'shipped: 1
'
        echo '# this one wins'
        grep "\"$small\"" proven.yaml
        row $large ', core: "another core"'
        echo '# the end'
    } >wanted.yaml
    cmp proven.yaml wanted.yaml || fail 'the file is another'
    expect 5 db lint proven.yaml
    says '^2 rows, 1 error, 0 notes$'
    sed '/another core/d' proven.yaml >sure.yaml
else
    grep -v '^#' proven.yaml >sure.yaml
fi
expect 0 db lint sure.yaml

# What is proven is not measured again, unless it is no longer what was proven.
cp sure.yaml again.yaml
expect 0 db prove sure.yaml
says '^0 rows kept, 0 dropped, 1 proven before, 0 not measured$'
cmp sure.yaml again.yaml || fail 'nothing was measured, and the file is another'
sed 's/turns_won: [0-9]*/turns_won: 11/' sure.yaml >doubtful.yaml
expect 5 db lint doubtful.yaml
says 'error: .*it beat the guess in 11 of 16 turns, not in three quarters of them; '
sed 's/win_iqr: [0-9.e+-]*/win_iqr: 9/' sure.yaml >doubtful.yaml
expect 5 db lint doubtful.yaml
says 'error: .*its win over the guess, .* %, is within the spread of 9.* %; '
sed 's/driver: "[^"]*"/driver: "another"/' sure.yaml >doubtful.yaml
expect 0 db lint doubtful.yaml
expect 0 db prove doubtful.yaml
says '^1 row kept, 0 dropped, 0 proven before, 0 not measured$'

# A merge keeps what is proven where a later row of the same config was not compared.
sed 's/, guess: .*, win_iqr: [0-9.e+-]*//' sure.yaml >later.yaml
expect 0 db merge sure.yaml later.yaml
grep -q 'turns: 16' out || fail 'the merge lost the turns'
expect 0 db merge later.yaml sure.yaml
grep -q 'turns: 16' out || fail 'the merge did not take the turns'
sed 's/hash: "[^"]*"/hash: "other"/' later.yaml >newer.yaml
expect 0 db merge sure.yaml newer.yaml
grep -q 'hash: "other"' out || fail 'a row of other templates did not replace an older one'

# Without a file it is the user's. Rows that later ones replace go, too.
{
    head_of ''
    sed -n '/^- /s/, guess: .*, win_iqr: [0-9.e+-]*//p' sure.yaml
    sed -n '/^- /p' sure.yaml
} >two.yaml
KILN_DB= XDG_DATA_HOME="$KILN_SANDBOX/data" expect 0 db prove
says ': no such file yet; '
own=$(sed 's/: no such file yet.*//' out)
mkdir -p "$(dirname "$own")"
cp two.yaml "$own"
KILN_DB= XDG_DATA_HOME="$KILN_SANDBOX/data" expect 0 db prove --jobs 1
says '^0 rows kept, 0 dropped, 1 proven before, 0 not measured$'
says '^1 replaced by later rows, and dropped$'
[ "$(grep -c '^- ' "$own")" -eq 1 ] || fail 'the replaced row is still there'
sed 's/driver: "[^"]*"/driver: "another"/' two.yaml >"$own"
KILN_DB= XDG_DATA_HOME="$KILN_SANDBOX/data" expect 0 db prove --jobs 1
says '^1 row kept, 0 dropped, 0 proven before, 0 not measured$'

# Ctrl-C keeps what is done, and the same command goes on.
{
    head_of ''
    for n in 2 3 4 5 6; do row "fwd-f32-n$n-c16-k16-i8x8-f1x1"; done
} >many.yaml
: >out # what an earlier run said is no sign that this one works
"$KILN_COMMAND" db prove many.yaml --jobs 1 >out 2>err &
run=$!
waits=0
until grep -q '; ' out; do
    kill -0 "$run" 2>/dev/null || break
    waits=$((waits + 1))
    [ "$waits" -lt 600 ] || fail 'the run did not start'
    sleep 0.1
done
kill -s INT "$run" 2>/dev/null || true
status=0
wait "$run" || status=$?
if [ "$status" -ne 130 ]; then fail "a run that SIGINT ended gave $status"; fi
says ', [1-5] left: the same command goes on \(interrupted\)$'
expect 0 db lint many.yaml
done=$(grep -c 'turns: 16' many.yaml) || true
expect 0 db prove many.yaml
says "^[0-9]+ rows? kept, [0-9]+ dropped, $done proven before, 0 not measured$"

# A wrong result is no win; a row that this version does not use stays and is told of.
awk '/^kernel .*void naive\(/ { k = 1 } { print } k && /^\{/ { print "if (1) return;"; k = 0 }' \
    "$templates/naive/naive.cl" >planted/naive.cl
{
    head_of ''
    row $small
    row $large | sed 's/version: [0-9]*/version: 77/'
} >wrong.yaml
expect 3 db prove wrong.yaml
says "^$small  naive: dropped: .*computed a wrong result$"
warns "^kiln db: $large: not measured: the row is of version 77 of solver naive; this is $version \(kiln db prune drops it\)$"
[ "$(grep -c '^- ' wrong.yaml)" -eq 1 ] || fail 'the wrong row did not go, or the other one did'
expect 2 db prove wrong.yaml --jobs many
warns "^kiln db: --jobs is 'many'; it must be a whole number from 0 to 2147483647$"
sed 's/^device: .*/device: "card"/' wrong.yaml >card.yaml
expect 5 db prove card.yaml
warns 'card.yaml has rows of "card"'
ls ./*.tmp 2>/dev/null && fail 'a temporary file was left'
exit 0
