/* The table of flags, which the parser, the help and the repro lines are made from. */
#ifndef KILN_FLAG_TABLE_H
#define KILN_FLAG_TABLE_H

#include "flags.h"

#include <stddef.h>

typedef enum flag_group {
    GROUP_SHAPE = 0, /* replaced by --problem */
    GROUP_EPILOGUE,
    GROUP_RUN,
    GROUP_DATA,
    GROUP_REPORT,
    GROUP_DEVICE,
    GROUP_BATCH,
    GROUP_MIOPEN,
    GROUP_COUNT
} flag_group;

typedef struct flag {
    const char *name;
    char letter; /* 0: none */
    flag_group group;
    enum { NUMBER, REAL, TEXT, TEXTS, CHOICE, SWITCH } kind;
    size_t offset; /* in flags: int64_t, double, const char * or flag_texts */
    const char *initial;
    int64_t min, max; /* NUMBER */
    const char *what; /* CHOICE: "conv|trans"; else the value's name in the help */
    const char *help;
} flag;

extern const flag flag_table[];
extern const int flag_rows;

/* Return the place of the row's value in *f. */
int64_t *flag_number(const flags *f, const flag *row);
double *flag_real(const flags *f, const flag *row);
const char **flag_text(const flags *f, const flag *row);
flag_texts *flag_list(const flags *f, const flag *row);

#endif
