/* Lists of problems, one to a line: what `kiln conv --batch FILE` reads.
 *
 *     mb64ic3ih224oc64oh112kh7sh2ph3n"conv1"           benchdnn's convolution descriptors
 *     # name N C H W K R S pad_h pad_w stride_h ...    columns, named by a header line
 *     conv1*3 64 3 224 224 64 7 7 3 3 2 ...            "*3": the layer occurs three times
 *     # ASYM-PAD (top,bottom,left,right)=1,0,1,0 : conv2 64 3 ...      unequal padding
 *     fwd-f32-n16-c192-k64-i28x28-f1x1                 kiln's text, or a MIOpen key
 *     MIOpenDriver conv -n 16 ...                      command lines, left to the flag parser
 *
 * Blank lines and other lines that start with # hold nothing.
 */
#ifndef KILN_LINES_H
#define KILN_LINES_H

#include "kiln_problem.h"

#include <stdbool.h>

enum { LINES_NAME = 64, LINES_COLUMNS = 24 };

typedef enum lines_kind {
    LINES_NOTHING = 0,
    LINES_SHAPE,   /* sizes only: directions, types and all else are the caller's */
    LINES_PROBLEM, /* a whole problem */
    LINES_COMMAND, /* starts with conv, convfp16, ..., kiln conv or -, or names MIOpenDriver */
    LINES_BAD      /* entry.why has the sentence */
} lines_kind;

/* What earlier lines of a file said about later ones. Start with all zero, one for each file. */
typedef struct lines_reader {
    int columns; /* 0: no header yet; then 15 words are the columns above, 20 those with a depth */
    int column[LINES_COLUMNS];
    bool broken; /* the latest header could not be understood */
} lines_reader;

typedef struct lines_entry {
    /* SHAPE: passes kiln_problem_check(), but is not completed: types and layouts are still at
     * their defaults, for the caller to set. PROBLEM: checked. */
    kiln_problem problem;
    char name[LINES_NAME]; /* "" where the line has none; cut to fit; printable */
    int repeat;            /* how often the layer occurs, at least 1 */
    char why[KILN_ERROR_TEXT];
} lines_entry;

/* Reads one line, with or without its end. */
lines_kind lines_read(lines_reader *reader, const char *line, lines_entry *entry);

#endif
