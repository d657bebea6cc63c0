/* Fuzzes command lines: the first line of the input is the word, each other one an argument. An
 * accepted command line is written as text, whole and a direction at a time, and that text must
 * mean the same. */
#include "driver/base/flag_table.h"
#include "driver/conv/request.h"

#include "fuzz.h"

enum { MOST_WORDS = 48, LINE_TEXT = 8 * FUZZ_MOST };

/* Takes the quotes off, in place, as a shell does with what flags_repro() writes. */
static int split(char *text, char **word)
{
    int count = 0;
    char *to = text;
    for (char *from = text; *from;) {
        while (*from == ' ')
            from++;
        require(count < MOST_WORDS * 3);
        word[count++] = to;
        for (bool quoted = false; *from && (quoted || *from != ' '); from++) {
            if (*from == '\'')
                quoted = !quoted;
            else if (*from == '\\' && !quoted)
                *to++ = *++from;
            else
                *to++ = *from;
        }
        from += *from == ' ';
        *to++ = '\0';
    }
    return count;
}

static bool same_value(const flags *a, const flags *b, const flag *row)
{
    switch (row->kind) {
    case REAL:
        return *flag_real(a, row) == *flag_real(b, row);
    case TEXT:
        return strcmp(*flag_text(a, row), *flag_text(b, row)) == 0;
    default:
        return *flag_number(a, row) == *flag_number(b, row);
    }
}

/* Whether all directions that are wanted have problems: a line is written for such requests only.
 */
static bool has_problems(const request *r, char *why)
{
    kiln_status status = KILN_OK;
    kiln_problem p;
    for (int d = KILN_FORWARD; d <= KILN_BACKWARD_WEIGHTS && !status; d++)
        if (request_wants(r, (kiln_direction)d))
            status = request_problem(r, (kiln_direction)d, &p, why);
    return status == KILN_OK;
}

static void check_problem(const request *r, const request *back, kiln_direction d)
{
    kiln_problem p, q;
    char why[KILN_ERROR_TEXT] = "";
    require(request_wants(back, d));
    require(request_problem(r, d, &p, why) == KILN_OK);
    require(request_problem(back, d, &q, why) == KILN_OK);
    require(memcmp(&p, &q, sizeof p) == 0);
}

/* Reads "kiln conv -n 1 ..." as a shell and the command would. */
static void read_back(char *text, request *back)
{
    char *word[MOST_WORDS * 3 + 1] = {NULL}, why[KILN_ERROR_TEXT] = "";
    const int words = split(text, word);
    require(words >= 2 && strcmp(word[0], "kiln") == 0);
    *back = (request){.word = word[1]};
    require(request_word(back->word, &back->type));
    flags_init(&back->flags);
    require(flags_parse(&back->flags, words - 1, word + 1, why) == KILN_OK);
    require(request_check(back, why) == KILN_OK);
}

/* -F is compared as the directions that are wanted: 0 and 7 are the same. */
static bool is_repeated(const flag *row)
{
    return (row->group == GROUP_RUN || row->group == GROUP_DATA || row->group == GROUP_MIOPEN) &&
           row->offset != offsetof(flags, forw);
}

static void check_repeated(const request *r)
{
    static char text[LINE_TEXT];
    request back;
    request_line(r, text, sizeof text);
    require(strlen(text) < sizeof text - 1);
    read_back(text, &back);
    for (int i = 0; i < flag_rows; i++)
        if (is_repeated(&flag_table[i]))
            require(same_value(&r->flags, &back.flags, &flag_table[i]));
    for (int d = KILN_FORWARD; d <= KILN_BACKWARD_WEIGHTS; d++)
        if (request_wants(r, (kiln_direction)d))
            check_problem(r, &back, (kiln_direction)d);
        else
            require(!request_wants(&back, (kiln_direction)d));
}

/* The line of one direction runs that one alone. */
static void check_directions(const request *r)
{
    static char text[LINE_TEXT];
    for (int d = KILN_FORWARD; d <= KILN_BACKWARD_WEIGHTS; d++) {
        request back;
        if (!request_wants(r, (kiln_direction)d))
            continue;
        request_repro(r, (kiln_direction)d, text, sizeof text);
        require(strlen(text) < sizeof text - 1);
        read_back(text, &back);
        check_problem(r, &back, (kiln_direction)d);
        for (int other = KILN_FORWARD; other <= KILN_BACKWARD_WEIGHTS; other++)
            require(other == d || !request_wants(&back, (kiln_direction)other));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static fuzz_text room;
    if (size > FUZZ_MOST)
        return 0;
    char *word[MOST_WORDS + 1] = {NULL}, why[KILN_ERROR_TEXT] = "";
    char *text = fuzz_text_of(&room, data, size);
    int words = 0;
    do
        word[words++] = fuzz_next_line(&text);
    while (*text && words < MOST_WORDS);
    request r = {.word = word[0]};
    if (!request_word(r.word, &r.type))
        r.word = "conv", r.type = KILN_F32;
    flags_init(&r.flags);
    if (flags_parse(&r.flags, words, word, why) || request_check(&r, why) ||
        !has_problems(&r, why)) {
        fuzz_check_why(why, sizeof why);
    } else if (!r.flags.help) {
        check_repeated(&r);
        check_directions(&r);
    }
    return 0;
}
