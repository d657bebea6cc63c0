/* What may stand behind a word of the command: flags and words of its own. */
#ifndef KILN_COMPLETION_ROWS_H
#define KILN_COMPLETION_ROWS_H

#include <stdbool.h>

typedef struct completion_row {
    char letter; /* of a flag; 0: none */
    bool flag;   /* --name; else a word */
    const char *name;
    const char *what;  /* names the value that follows; "": none does */
    const char *about; /* the first line of its help */
} completion_row;

enum { COMPLETION_ROWS = 192 };

typedef struct completion_rows {
    completion_row row[COMPLETION_ROWS];
    int count;
} completion_rows;

/* Adds the rows of the flag table that *rows has not. */
void completion_add_flags(completion_rows *rows);

/* Adds what a help explains at the beginning of its lines, up to its examples or variables. Cuts
 * the text into pieces, which the rows point to. */
void completion_add_help(completion_rows *rows, char *help);

/* Returns the row of "--name", "--name=...", "-l" or "word"; NULL: there is none. */
const completion_row *completion_find(const completion_rows *rows, const char *word);

#endif
