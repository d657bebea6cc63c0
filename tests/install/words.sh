#!/bin/sh
# The prose rule of CONTRIBUTING ("How to write"), as far as a search finds its breach: names each line
# with a banned form, and the remedy. `./dev lint` runs this script first.
set -eu
cd "${KILN_SOURCE:-.}"

# Prints FILE:LINE: FORM: REMEDY. A form may begin at a line's end; code spans in documents may name it.
breaches() {
    awk '
    function check(pattern, remedy) {
        if (match(" " tolower(text) " ", "[^a-z]" pattern "[^a-z]") &&
            RSTART + RLENGTH - 2 > length(before)) {
            form = substr(text, RSTART, RLENGTH - 2)
            print FILENAME ":" FNR ": \"" form "\": " remedy
        }
    }
    FNR == 1 { before = ""; opened = 0 }
    {
        line = $0
        begins = line ~ /(\/[*\/]+|^ *#) *(Of|Whose) / || (opened && line ~ /^ *\*? *(Of|Whose) /)
        if (begins)
            print FILENAME ":" FNR ": a comment that begins with \"Of\" or \"Whose\": " \
                "begin with what the comment describes"
        opened = line ~ /\/\*+ *$/
        if (FILENAME ~ /\.md$/) gsub(/`[^`]*`/, "`", line)
        sub(/^[ \t]*[*#"\/|>-]*[ \t]*/, "", line)
        sub(/(\\n)?"? *$/, "", line)
        text = before (before == "" ? "" : " ") line
        check("those (that|which|who)", "name the things: \"the rows that\"")
        check("what it takes", "name it: time, memory, problems")
        check("such as (are|is|do|does|have|has|were|was)", "name the things")
        n = split(line, word, " ")
        before = n > 1 ? word[n - 1] " " word[n] : word[n]
    }' "$@"
}

# The search itself: each breach of this text, and nothing else, is found.
sandbox=${KILN_SANDBOX:-$(mktemp -d)}
mkdir -p "$sandbox"
cat >"$sandbox/words.md" <<'TEXT'
Rows that decide, and those rows that do not. The rule bans `those that`.
Rows are read, THOSE THAT decide first.
Layouts are those
that kiln chooses, and what
it takes is time such as are others.
TEXT
cat >"$sandbox/words.c" <<'TEXT'
/* Of a shape. */
/* Sizes of a shape; of none. Of several the first. */
/*
 * Whose sizes? */
    const char *help = "rows, and those "
                       "that count";
    int those; /* that */
TEXT
(cd "$sandbox" && breaches words.md words.c) | cut -d: -f1-3 >"$sandbox/found"
cat >"$sandbox/wanted" <<'TEXT'
words.md:2: "THOSE THAT"
words.md:4: "those that"
words.md:5: "what it takes"
words.md:5: "such as are"
words.c:1: a comment that begins with "Of" or "Whose"
words.c:4: a comment that begins with "Of" or "Whose"
words.c:6: "those that"
TEXT
diff "$sandbox/wanted" "$sandbox/found" >&2

find ./*.md docs examples generator man runtime driver templates tests tuning-db -type f \
    \( -name '*.[ch]' -o -name '*.cl' -o -name '*.hpp' -o -name '*.def' -o -name '*.md' \
    -o -name '*.scd' -o -name '*.sh' \) ! -path tests/install/words.sh | sort >"$sandbox/files"
# shellcheck disable=SC2046
breaches $(cat "$sandbox/files") >"$sandbox/found"
cat "$sandbox/found" >&2
[ ! -s "$sandbox/found" ]
