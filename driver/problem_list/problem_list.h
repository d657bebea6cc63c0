/* Lists of problems, one per line: the files that `kiln conv --batch FILE` reads.
 *
 *     mb64ic3ih224oc64oh112kh7sh2ph3n"conv1"           benchdnn's convolution descriptors
 *     # name N C H W K R S pad_h pad_w stride_h ...    columns, named by a header line
 *     conv1*3 64 3 224 224 64 7 7 3 3 2 ...            "*3": the layer occurs three times
 *     # ASYM-PAD (top,bottom,left,right)=1,0,1,0 : conv2 64 3 ...      unequal padding
 *     fwd-f32-n16-c192-k64-i28x28-f1x1                 kiln's text, or a MIOpen key
 *     MIOpenDriver conv -n 16 ...                      command lines, left to the flag parser
 *
 * Blank lines and all other lines that start with # are skipped.
 */
#ifndef KILN_PROBLEM_LIST_H
#define KILN_PROBLEM_LIST_H

#include "kiln_problem.h"

#include <stdbool.h>

enum { LIST_NAME = 64, LIST_COLUMNS = 24 };

typedef enum list_kind {
    LIST_NOTHING = 0,
    LIST_SHAPE,   /* sizes only: the caller sets directions, types and everything else */
    LIST_PROBLEM, /* a whole problem */
    LIST_COMMAND, /* starts with conv, convfp16, ..., kiln conv or -, or names MIOpenDriver */
    LIST_BAD      /* entry.why says what is wrong */
} list_kind;

/* What earlier lines of a file say about later ones. Start each file with one that is all zero. */
typedef struct list_reader {
    int columns; /* 0: no header yet, so that a row has 15 columns, or 20 with a depth */
    int column[LIST_COLUMNS];
    bool broken; /* the latest header could not be read */
} list_reader;

typedef struct list_entry {
    /* LIST_SHAPE: passes kiln_problem_check(); types and layouts are still at their defaults, for
     * the caller to set. LIST_PROBLEM: checked. */
    kiln_problem problem;
    char name[LIST_NAME]; /* "" where the line has none; cut to fit; printable */
    int repeat;           /* how often the layer occurs, at least 1 */
    char why[KILN_ERROR_TEXT];
} list_entry;

/* Reads one line, with or without its end. */
list_kind list_read(list_reader *reader, const char *line, list_entry *entry);

#endif
