#!/bin/sh
# `kiln cache`: programs that it lists and removes, files that it leaves alone. No device is needed.
set -eu
: "${KILN_COMMAND:?}" "${KILN_SANDBOX:?}"
corpus=$(dirname "$0")/../fuzz/corpus/cache_file
export KILN_CACHE_DIR="$KILN_SANDBOX/programs"
rm -rf "$KILN_SANDBOX"
mkdir -p "$KILN_CACHE_DIR"
out=$KILN_SANDBOX/out
err=$KILN_SANDBOX/err

fail() {
    echo "cache: $1" >&2
    cat "$out" "$err" >&2
    exit 1
}
expect() { # status, then the words after "kiln cache"
    wanted=$1
    shift
    status=0
    "$KILN_COMMAND" cache "$@" >"$out" 2>"$err" || status=$?
    [ "$status" -eq "$wanted" ] || fail "'$*' gave $status, not $wanted"
}
says() { grep -q -- "$1" "$2" || fail "'$1' is missing"; }

expect 0 show
says ': 0 programs, 0 B$' "$out"

cp "$corpus/valid" "$KILN_CACHE_DIR/00000000000000000000000000000001.kiln"
cp "$corpus/key_with_escape" "$KILN_CACHE_DIR/00000000000000000000000000000002.kiln"
cp "$corpus/truncated" "$KILN_CACHE_DIR/00000000000000000000000000000003.kiln"
cp "$corpus/valid" "$KILN_CACHE_DIR/00000000000000000000000000000001.kiln.1-2.tmp"
echo mine >"$KILN_CACHE_DIR/letter.txt"
touch -d '2001-02-03 04:05:06' "$KILN_CACHE_DIR/00000000000000000000000000000001.kiln"
expect 0 show
says '256 B  2001-02-03 04:05  generic  *test.cl  *-DA=1 -DB=2$' "$out"
says "damaged or of another version: $KILN_CACHE_DIR/00000000000000000000000000000003.kiln" "$out"
says ': 2 programs, 759 B, 1 of no use$' "$out"
[ "$(sed -n '4p' "$out" | cut -c13-16)" = 2001 ] || fail 'the oldest is not the last'
if grep -q "$(printf '\033')" "$out"; then
    fail 'an escape character got through'
fi

expect 0 clear
says ': removed 4 files$' "$out"
[ "$(ls -A "$KILN_CACHE_DIR")" = letter.txt ] || fail 'what is not its own was touched'

expect 0 --help
says '^usage: kiln cache show | clear' "$out"
expect 2
expect 2 --shwo
says 'unknown flag --shwo' "$err"
expect 2 -xyz
says 'unknown flag -xyz' "$err"
expect 2 shwo
says 'unknown word shwo' "$err"
expect 2 show all

export KILN_CACHE=off
expect 0 show
says 'switched off' "$out"
unset KILN_CACHE
KILN_CACHE_DIR=$KILN_CACHE_DIR/letter.txt
expect 5 show
says 'letter.txt: Not a directory; set KILN_CACHE_DIR' "$err"
expect 5 clear
[ ! -s "$out" ] || fail 'a failure tells how many files were removed'
KILN_CACHE_DIR=$KILN_SANDBOX/none
expect 0 clear
says ': removed 0 files$' "$out"
