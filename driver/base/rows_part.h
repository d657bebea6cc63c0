/* The record of a part: which problems one task of several was to tune, in its own file of rows.
 *
 *     # part 3 of 8: 2 of 16 problems, dealt by cost, list 9f3c0a1b2c3d4e5f
 *     # - fwd-f32-n16-c192-k64-i28x28-f1x1
 *     # - fwd-f32-n16-c64-k64-i56x56-f3x3
 *
 * It is a comment, which readers of rows pass over. Parts of one division have all but the index in
 * common; the last record of a file counts.
 */
#ifndef KILN_ROWS_PART_H
#define KILN_ROWS_PART_H

#include "kiln_tune.h"

#include <stdbool.h>

typedef struct rows_part {
    long long index, count; /* from 1; of so many parts. count 0: no part */
    long long own, all;     /* problems of the part, of the whole list */
    char by[8];             /* "cost", "key" */
    char list[20];          /* stands for the problems of the whole list */
    char **problem;         /* the part's, by name */
} rows_part;

/* Whether two parts are of one division of one list. */
bool rows_part_same_division(const rows_part *a, const rows_part *b);

/* Takes the record out of a piece between rows, in the place of an earlier one. Returns false when
 * out of memory. */
bool rows_part_take(rows_part *part, const kiln_rows_piece *piece);
void rows_part_free(rows_part *part);

/* Returns the text behind its last record, or the whole text. */
const char *rows_part_behind(const char *text);

/* Appends the record to a file of rows that no other process writes to, unless the file's last
 * record says the same. Returns the status, with a sentence in `why`. */
kiln_status rows_part_append(const char *file, const rows_part *part, char *why);

#endif
