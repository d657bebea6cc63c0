/* Fields of heads and rows: which there are, and what a text must be to become a field's value. */
#ifndef KILN_ROWS_FIELD_H
#define KILN_ROWS_FIELD_H

#include <stdbool.h>
#include <stddef.h>

typedef enum kiln_field_kind {
    KILN_FIELD_TEXT,  /* char[size]; anything longer or with control characters is refused */
    KILN_FIELD_COUNT, /* int, not negative */
    KILN_FIELD_NUMBER /* double, finite and not negative */
} kiln_field_kind;

typedef struct kiln_field {
    const char *name;
    kiln_field_kind kind;
    bool required;
    size_t offset, size; /* in the struct */
} kiln_field;

enum { KILN_FIELD_WHY = 160 };

/* Returns the index of the field of that name, -1 if there is none. */
int kiln_field_named(const kiln_field *fields, int nfields, const char *name, size_t length);

/* Stores the text, which a NUL ends, in the field's place in the struct `out`. Returns false, with
 * a sentence, when it is no value of the field. */
bool kiln_field_store(const kiln_field *f, const char *text, size_t length, void *out,
                      char why[KILN_FIELD_WHY]);

#endif
