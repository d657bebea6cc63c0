#!/bin/sh
# kiln explain: the rows of a problem, and why each is taken or not; the plan that comes of it.
. "$(dirname "$0")/common"
key=fwd-f32-n1-c16-k16-i4x4-f1x1
row() { # solver, version, config, ms, more
    echo "- {key: \"$key\", solver: $1, version: $2, config: \"$3\", ms: $4${5-}}"
}
explain() { expect 0 explain --problem $key --dry-run "$@"; }
version() { # of a solver
    "$KILN_COMMAND" conv --problem $key -S "$1" -P 1 --dry-run 2>err |
        sed -n 's/^solver .*, version \([0-9]*\)$/\1/p'
}
head='schema: 1\ndevice: "generic"\nrows:\n'
explain
says "^rows    none of this problem in .*rows.yaml \(the user's\), nor in no folder \(shipped\)$"
says '^plan$'
says '^stage 0 '
says '^  compile options  -D'
says '^  global size '

config=$("$KILN_COMMAND" explain --problem $key --dry-run 2>err | sed -n 's/^[* ] direct  .* config \([0-9,]*\) .*/\1/p')
[ "$config" ] || fail 'direct has no config'
direct=$(version direct) naive=$(version naive)
{
    # shellcheck disable=SC2059
    printf "$head"
    row direct "$direct" "$config" 7
    row direct "$direct" "$config" 5
    row naive "$naive" '' 9
    row direct 999 "$config" 1
    row nobody 1 "$config" 1
    row direct "$direct" 1,2,3 1
} >rows.yaml
explain
says '^rows \(\* decides\)$'
says "^\* user row: $key: $config of direct, 5 ms$"
says "^  user row: .* of direct, 7 ms: a newer row of direct replaces it$"
says "^  user row: .*: naive, 9 ms: the row of direct is faster, 5 ms$"
says '^  user row: .* of direct, 1 ms: it is of version 999 of solver direct; this is version'
says '^  user row: .* of nobody, 1 ms: it names solver nobody, which this version does not have$'
says '^  user row: .* 1,2,3 of direct, 1 ms: '
says '^\* direct .*\(user row\)'
[ "$(grep -c '^[* ] user row' out)" -eq 6 ] || fail 'not every row is there'

# a row of a search that could not choose all; shipped rows; rows for any device
{
    # shellcheck disable=SC2059
    printf "$head"
    row naive "$naive" '' 100 ', without: "direct"'
} >rows.yaml
explain
says '^  user row: .* naive, 100 ms: it does not decide: its search could not choose direct, '
mkdir shipped
# shellcheck disable=SC2059
{ printf "$head"; row direct "$direct" "$config" 3; } >shipped/generic.yaml
export KILN_SHIPPED_DB="$KILN_SANDBOX/shipped"
explain --json
says '"row":"user row","row_problem":"'$key'","solver":"naive",.*"taken":false,"reason":"it does not decide'
says '"row":"shipped.*","row_problem":"'$key'","solver":"direct"'
# open layouts have the rows of the layouts that solvers choose
expect 0 explain -n 1 -c 16 -H 4 -W 4 -k 16 -y 1 -x 1 -F 1 -I any -O any --dry-run
says '^rows |^  shipped|^rows    none'

# tensors that are moved to other layouts, and a limit that excludes a faster solver
restaged='wrw-f32-n1-c64-k64-i56x56-f3x3-p1x1'
expect 0 explain --problem $restaged -S weights_blocked --dry-run --json
says '"solver":"weights_blocked".*"restaged":\[\{"tensor":"x","from":"NCHW","to":"NCHW[0-9]+c","predicted_ms":0.[0-9]+\},\{"tensor":"y"'
says '"solver":"direct".*"restaged":\[\]'
expect 0 explain --problem $restaged-l:NCHW8c.OHWI.NCHW --dry-run
says '^  direct .* restages x \([0-9.]+ ms\)'
says '^\* .* restages y '
says '^layouts y is restaged from NCHW to NCHW8c: [0-9.]+ ms predicted of [0-9.]+$'
says '^        no solver reads and writes all tensors as they lie$'
expect 0 explain --problem $restaged --dry-run
says '^        direct reads and writes all tensors as they lie, [0-9.]+ ms predicted: the stages pay$'
expect 0 explain --problem fwd-f32-n1-c64-k64-i56x56-f3x3-p1x1 --workspace-limit 200000 --dry-run
says '^limit   [a-zA-Z0-9_]+ is passed over, [0-9.]+ ms predicted without a limit: [0-9]+ bytes of workspace exceed'
says 'exceed the problem.s limit of 200000; without a limit [0-9.]+ ms predicted$'
# a stage that only converts bytes moves nothing
expect 0 explain --problem fwd-u8-n1-c64-k64-i14x14-f3x3-p1x1 --dry-run
lacks 'restage'
