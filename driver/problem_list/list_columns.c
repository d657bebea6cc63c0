/* Reads rows of columns, their header, and rows with unequal padding. */
#include "list_columns.h"

#include "list_shape.h"
#include "list_text.h"

#include <stddef.h>
#include <string.h>

#define AXIS(i, field) (offsetof(list_sizes, axis[i]) + offsetof(list_axis, field))
static const struct {
    const char *name;
    size_t offset; /* of an int64_t in list_sizes */
    int least;
} columns[] = {
    {"name", 0, 0},
    {"N", offsetof(list_sizes, n), 1},
    {"C", offsetof(list_sizes, c), 1},
    {"K", offsetof(list_sizes, k), 1},
    {"groups", offsetof(list_sizes, g), 1},
    {"D", AXIS(0, in), 1},
    {"H", AXIS(1, in), 1},
    {"W", AXIS(2, in), 1},
    {"T", AXIS(0, filter), 1},
    {"R", AXIS(1, filter), 1},
    {"S", AXIS(2, filter), 1},
    {"pad_d", AXIS(0, pad), 0},
    {"pad_h", AXIS(1, pad), 0},
    {"pad_w", AXIS(2, pad), 0},
    {"stride_d", AXIS(0, stride), 1},
    {"stride_h", AXIS(1, stride), 1},
    {"stride_w", AXIS(2, stride), 1},
    {"dil_d", AXIS(0, dilation), 1},
    {"dil_h", AXIS(1, dilation), 1},
    {"dil_w", AXIS(2, dilation), 1},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static const char header_2d[] =
    "name N C H W K R S pad_h pad_w stride_h stride_w dil_h dil_w groups";
static const char header_3d[] = "name N C D H W K T R S pad_d pad_h pad_w stride_d stride_h "
                                "stride_w dil_d dil_h dil_w groups";

static int find_column(list_word word)
{
    for (int i = 0; i < COLUMNS; i++)
        if (list_word_is(word, columns[i].name))
            return i;
    return -1;
}

static bool has_column(const list_reader *r, const char *name)
{
    for (int i = 0; i < r->columns; i++)
        if (strcmp(columns[r->column[i]].name, name) == 0)
            return true;
    return false;
}

/* Returns a column that the header lacks, NULL: none. A size needs its filter and vice versa. */
static const char *missing_column(const list_reader *r)
{
    static const char *const needed[] = {"N", "C", "K", "W", "S"};
    static const char *const together[][2] = {
        {"H", "R"}, {"R", "H"}, {"D", "T"}, {"T", "D"}, {"D", "H"}};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!has_column(r, needed[i]))
            return needed[i];
    for (size_t i = 0; i < sizeof together / sizeof *together; i++)
        if (has_column(r, together[i][0]) && !has_column(r, together[i][1]))
            return together[i][1];
    return NULL;
}

/* Whether a comment is a header: "name", then a column. */
static bool is_header(const char *line)
{
    list_word first = list_next_word(&line), second = list_next_word(&line);
    return list_word_is(first, "name") && find_column(second) > 0;
}

static list_kind read_header(list_reader *r, const char *line, list_entry *entry)
{
    r->columns = 0;
    r->broken = true;
    for (list_word word; (word = list_next_word(&line)).length > 0;) {
        int column = find_column(word);
        if (column < 0)
            return list_bad(entry, "the header has an unknown column \"%s\"; known are %s",
                            list_quote(word).text, header_3d);
        if (has_column(r, columns[column].name))
            return list_bad(entry, "the header has the column %s twice", columns[column].name);
        r->column[r->columns++] = column; /* at most COLUMNS: none twice */
    }
    const char *missing = missing_column(r);
    if (missing)
        return list_bad(entry, "the header lacks the column %s", missing);
    r->broken = false;
    return LIST_NOTHING;
}

static int count_words(const char *line)
{
    int n = 0;
    for (list_word w; (w = list_next_word(&line)).length > 0 && w.at[0] != '#';)
        n++;
    return n;
}

/* Chooses the columns of a line: the header's, or the ones that its number of words stands for. */
static list_kind choose_columns(const list_reader *r, int words, list_reader *use,
                                list_entry *entry)
{
    if (r->broken)
        return list_bad(entry, "the header above this row could not be read; mend that first");
    *use = *r;
    if (r->columns == 0 && (words == 15 || words == 20))
        return read_header(use, words == 15 ? header_2d : header_3d, entry);
    if (r->columns == 0)
        return list_bad(entry,
                        "%d words, neither a benchdnn descriptor nor a row: without a header, a "
                        "row has 15 (%s)",
                        words, header_2d);
    if (words != r->columns)
        return list_bad(entry, "%d words where the header names %d columns", words, r->columns);
    return LIST_NOTHING;
}

static list_kind read_row(const list_reader *r, const char *line, list_sizes *s, list_entry *entry)
{
    list_reader use;
    list_kind kind = choose_columns(r, count_words(line), &use, entry);
    if (kind != LIST_NOTHING)
        return kind;
    *s = (list_sizes){.g = 1};
    s->rank = has_column(&use, "D") ? 3 : has_column(&use, "H") ? 2 : 1;
    for (int i = 0; i < 3; i++)
        s->axis[i].stride = s->axis[i].dilation = 1;
    for (int i = 0; i < use.columns; i++) {
        int c = use.column[i];
        list_word word = list_next_word(&line);
        if (c == 0) {
            list_take_name(word, entry);
            continue;
        }
        int64_t value;
        const char *p = word.at;
        if (!list_scan_int(&p, &value) || p != word.at + word.length)
            return list_bad(entry, "column %s is \"%s\", not a whole number below 2^63",
                            columns[c].name, list_quote(word).text);
        if (value < columns[c].least)
            return list_bad(entry, "column %s is %lld; the least is %d", columns[c].name,
                            (long long)value, columns[c].least);
        memcpy((char *)s + columns[c].offset, &value, sizeof value);
    }
    for (int i = 0; i < 3; i++)
        s->axis[i].pad_end = s->axis[i].pad;
    return LIST_SHAPE;
}

list_kind list_read_columns(list_reader *reader, const char *line, list_entry *entry)
{
    list_sizes sizes;
    list_kind kind = read_row(reader, line, &sizes, entry);
    return kind == LIST_SHAPE ? list_set_problem(&sizes, entry) : kind;
}

/* ---- "# ASYM-PAD (top,bottom,left,right)=1,0,1,0 : name ..." ---- */

enum { SIDES = 6 };
static const struct {
    const char *name;
    int axis;
    bool end;
} sides[SIDES] = {{"front", 0, false}, {"back", 0, true},  {"top", 1, false},
                  {"bottom", 1, true}, {"left", 2, false}, {"right", 2, true}};

static bool scan_signed(const char **at, int64_t *value)
{
    const char *p = *at;
    bool negative = *p == '-';
    p += negative;
    if (!list_scan_int(&p, value))
        return false;
    if (negative)
        *value = -*value;
    *at = p;
    return true;
}

/* Reads "(top,bottom,left,right)=" from the bracket on. Returns the number of sides; 0: the text is
 * no such list. */
static int scan_sides(const char **at, int side[SIDES])
{
    int n = 0;
    const char *p = *at;
    do {
        p++; /* the bracket or a comma */
        int i = 0;
        while (i < SIDES && strncmp(p, sides[i].name, strlen(sides[i].name)) != 0)
            i++;
        if (i == SIDES || n == SIDES)
            return 0;
        p += strlen(sides[i].name);
        side[n++] = i;
    } while (*p == ',');
    if (strncmp(p, ")=", 2) != 0)
        return 0;
    *at = p + 2;
    return n;
}

/* Reads "1,0,1,0". */
static bool scan_pads(const char **at, int64_t pad[SIDES], int n)
{
    for (int i = 0; i < n; i++) {
        if (i > 0 && **at != ',')
            return false;
        *at += i > 0;
        if (!scan_signed(at, &pad[i]))
            return false;
    }
    return true;
}

static list_kind read_unequal(list_reader *r, const char *line, list_entry *entry)
{
    int side[SIDES];
    int64_t pad[SIDES];
    const char *p = line;
    int n = scan_sides(&p, side);
    if (n > 0 && !scan_pads(&p, pad, n))
        n = 0;
    list_word colon = list_next_word(&p);
    if (n == 0 || !list_word_is(colon, ":"))
        return list_bad(entry, "expected \"# ASYM-PAD (top,bottom,left,right)=1,0,1,0 : \" and a "
                               "row");
    list_sizes s;
    list_kind kind = read_row(r, p, &s, entry);
    if (kind != LIST_SHAPE)
        return kind;
    for (int i = 0; i < n; i++) {
        list_axis *a = &s.axis[sides[side[i]].axis];
        if (sides[side[i]].axis < 3 - s.rank)
            return list_bad(entry, "the row has no axis for the side \"%s\"", sides[side[i]].name);
        *(sides[side[i]].end ? &a->pad_end : &a->pad) = pad[i];
    }
    for (int i = 0; i < 3; i++) {
        list_axis *a = &s.axis[i];
        if (a->pad_end < 0 && (!list_axis_is_tame(a) || !list_drop_unread(a)))
            return list_bad(entry, "a padding of %lld cuts off input that the filter reads",
                            (long long)a->pad_end);
    }
    return list_set_problem(&s, entry);
}

list_kind list_read_comment(list_reader *reader, const char *line, list_entry *entry)
{
    const char *rest = line;
    list_word first = list_next_word(&rest), second = list_next_word(&rest);
    if (is_header(line))
        return read_header(reader, line, entry);
    if (list_word_is(first, "ASYM-PAD") && second.length > 0 && second.at[0] == '(')
        return read_unequal(reader, second.at, entry);
    return LIST_NOTHING;
}
