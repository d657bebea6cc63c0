/* What the readers of problem lists share: words, numbers, and sizes by axis. */
#ifndef KILN_LINES_TEXT_H
#define KILN_LINES_TEXT_H

#include "problem_list.h"

enum { LINES_QUOTE = 48 };

/* Part of a line. */
typedef struct lines_word {
    const char *at;
    size_t length;
} lines_word;

/* The next word between blanks, and *at moved behind it; length 0 at the end of the line. */
lines_word lines_next_word(const char **at);
bool lines_word_is(lines_word word, const char *text);
/* True when nothing but blanks or a comment is left. */
bool lines_at_end(const char *at);

/* A word as it may be printed: cut, with '?' for other bytes. */
typedef struct lines_quoted {
    char text[LINES_QUOTE];
} lines_quoted;
lines_quoted lines_quote(lines_word word);

/* Decimal digits up to INT64_MAX, moving *at behind them. */
bool lines_scan_int(const char **at, int64_t *value);

/* Sets why and returns LINES_BAD. */
lines_kind lines_bad(lines_entry *entry, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Splits "res2a*4" into name and repeat. */
void lines_take_name(lines_word word, lines_entry *entry);

/* A convolution as lists write it: axes always D, H, W. */
typedef struct lines_axis {
    int64_t in, out, filter, stride, pad, pad_end, dilation;
} lines_axis;

typedef struct lines_sizes {
    int64_t n, c, k, g;
    int rank;
    lines_axis axis[3]; /* the last `rank` count */
} lines_sizes;

/* Turns sizes into the entry's problem and checks it. `out` is not looked at. */
lines_kind lines_set_problem(const lines_sizes *sizes, lines_entry *entry);

/* False where the arithmetic of an axis could overflow. Stride and dilation must be at least 1. */
bool lines_axis_is_tame(const lines_axis *axis);

/* A negative padding after the input leaves out rows that no window reaches when it is shorter than
 * a stride: then it becomes 0. False otherwise. */
bool lines_drop_unread(lines_axis *axis);

lines_kind lines_read_columns(lines_reader *reader, const char *line, lines_entry *entry);
/* A comment that may be a header or an ASYM-PAD line; `line` starts behind the '#'. */
lines_kind lines_read_comment(lines_reader *reader, const char *line, lines_entry *entry);

bool lines_is_descriptor(const char *line);
lines_kind lines_read_descriptor(const char *line, lines_entry *entry);

#endif
