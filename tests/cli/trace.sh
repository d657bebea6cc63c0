#!/bin/sh
# --trace: a file that parses as JSON, with the steps of conv, and of tune in all of its processes.
. "$(dirname "$0")/common"
problem='-n 1 -c 16 -H 4 -W 4 -k 16 -y 1 -x 1 -F 1'

# parse FILE: every line is what it must be, and each span lies within "problem" of its thread or
# beside it. Writes pid, name, begin and end of each span to ./spans.
parse() {
    awk '
        function bad(why) { print FILENAME ": line " NR ": " why ": " $0; failed = 1; exit 1 }
        NR == 1 { if ($0 != "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[") bad("no head"); next }
        ended { bad("a line behind the end") }
        /^\]}$/ { ended = 1; if (comma) bad("a comma before the end"); next }
        !/^{"ph":"[MX]","pid":[0-9]+,"tid":[0-9]+,"name":"([^"\\]|\\.)*"(,"cat":"kiln","ts":[0-9.]+,"dur":[0-9.]+)?,"args":{"(name|detail)":"([^"\\]|\\.)*"}},?$/ {
            bad("no event")
        }
        NR > 2 && !comma { bad("no comma before") }
        { comma = /,$/ }
        /"ph":"X"/ {
            match($0, /"pid":[0-9]+/); pid = substr($0, RSTART + 6, RLENGTH - 6)
            match($0, /"name":"[^"]*/); name = substr($0, RSTART + 8, RLENGTH - 8)
            match($0, /"ts":[0-9.]+/); ts = substr($0, RSTART + 5, RLENGTH - 5)
            match($0, /"dur":[0-9.]+/); dur = substr($0, RSTART + 6, RLENGTH - 6)
            printf "%s %s %.3f %.3f\n", pid, name, ts, ts + dur
        }
        END { if (!failed && !ended) { print FILENAME ": it has no end"; exit 1 } }' "$1" >spans ||
        { cp spans out; fail "$1 does not parse"; }
    if command -v python3 >/dev/null; then
        python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$1" || fail "$1 is no JSON"
    fi
}
has() { # spans...
    for name in "$@"; do
        grep -q "^[0-9]* $name " spans || { cp spans out; fail "the trace has no span $name"; }
    done
}

# shellcheck disable=SC2086
expect 0 conv $problem -S naive -i 2 --trace conv.json
parse conv.json
has problem choose emit build tensors launch verify
awk '$2 == "problem" { from = $3; to = $4 } { at[NR] = $3; end[NR] = $4 }
    END { for (i in at) if (at[i] < from - 1 || end[i] > to + 1) exit 1 }' spans ||
    fail 'a span does not lie within the problem'

# several problems, and a search in this process
echo "conv $problem" >list
expect 0 conv --batch list -s 1 -S naive --trace search.json
parse search.json
has problem trial build launch verify

# tune: a worker and compilers beside the first process
expect 0 tune list --solvers naive,13 --trials 4 --seconds 0 --jobs 1 --trace tune.json
parse tune.json
has problem tensors trial wait build launch verify
grep -q '"name":"kiln tune: searches on ' tune.json || fail 'the worker has no name'
grep -q '"name":"kiln tune: compiles for ' tune.json || fail 'the compiler has no name'
[ "$(cut -d' ' -f1 spans | sort -u | wc -l)" -eq 2 ] || fail 'the spans are not of two processes'

# standard output is the trace's alone
# shellcheck disable=SC2086
expect 0 conv $problem -S naive -t 1 --trace -
mv out whole.json
parse whole.json
has problem launch verify
warns '^kiln conv -n 1'
warns '^stats: '
warns 'Verifies OK'
if [ -c /dev/full ]; then
    status=0
    # shellcheck disable=SC2086
    "$KILN_COMMAND" conv $problem -S naive --trace - >/dev/full 2>err || status=$?
    [ "$status" -eq 5 ] || fail "a trace into a full disk ended with $status"
    warns '^kiln: cannot write standard output: No space'
fi

# a file that cannot be written, before anything is done
# shellcheck disable=SC2086
expect 5 conv $problem -S naive --trace nowhere/trace.json
warns 'cannot write nowhere/trace.json: No such file'
lacks 'Verifies'
expect 5 tune list --trace .
[ "$(find . -name '*.tmp' | wc -l)" -eq 0 ] || fail 'a temporary file was left'
