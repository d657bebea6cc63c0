#!/bin/sh
# Names and lines of any bytes: what programs and browsers read stays UTF-8, and nothing in it is
# hidden or turns the direction of the text.
. "$(dirname "$0")/common"

hidden=$(printf '\342\200\256\n\342\201\246\n\342\200\217\n\330\234\n\033\n')
sound() { # FILE: its bytes are UTF-8, without controls
    iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>&1 || fail "$1 ($name) is no UTF-8"
    if grep -F -e "$hidden" "$1" >/dev/null; then
        fail "$1 ($name) has controls"
    fi
}
check() { # WORDS...: whatever the status, the output is sound
    "$KILN_COMMAND" "$@" >out 2>err || true
    [ -s out ] || fail "'kiln $*' prints nothing"
    sound out
}

problem='-n 1 -c 4 -H 5 -W 5 -k 4 -F 1'
for bytes in 'x\377y' 'x\303(' 'cut\346\274' 'o\300\257v' 'h\355\240\200' 'evil\342\200\256txt' \
    '\342\201\246a\342\201\251' 'm\330\234\342\200\217' 'e\033[31m'; do
    name=$bytes
    # shellcheck disable=SC2059
    text=$(printf "$bytes")
    printf 'conv %s -S %s\n--conv mb1ic4ih5oc4oh5kh3ph1n"%s"\nconv %s -d %s\nnonsense %s\n' \
        "$problem" "$text" "$text" "$problem" "$text" "$text" >"$text.list"
    for format in --json --csv; do
        # shellcheck disable=SC2086
        check conv $problem -S "$text" $format
        # shellcheck disable=SC2086
        check conv $problem -d "$text" $format
        check conv --batch "$text.list" --dry-run $format
    done
    KILN_DB=$text.yaml check tune "$text.list" --dry-run --json
    # shellcheck disable=SC2086
    "$KILN_COMMAND" conv $problem --dry-run --trace "$text.trace" >/dev/null 2>&1 || fail 'no trace'
    cp "$text.trace" trace
    sound trace
    # shellcheck disable=SC2086
    KILN_DB=$text.yaml check explain $problem --json
    printf '{"schema": 1, "kind": "trial", "problem": "p", "key": "p", "solver": "%s", "version": 1, "config": "%s", "verdict": "ok", "ms": 1}\n' \
        "$text" "$text" | tr -d '\033' >"$text.trials.jsonl"
    printf '{"schema": 1, "kind": "trial", "problem": "p", "key": "p", "solver": "s\\u202e", "version": 1, "config": "\\u2066", "verdict": "ok", "ms": 1}\n' \
        >>"$text.trials.jsonl"
    check db export "$text.trials.jsonl" --format t4
    says 's.u202e'
    check db export "$text.trials.jsonl" --format csv
    check report "$text.trials.jsonl" -o -
done
