/* Reads one YAML mapping of known scalar fields into a struct, by a table. */
#ifndef KILN_ROWS_YAML_H
#define KILN_ROWS_YAML_H

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

enum { KILN_YAML_WHY = 160 };

/* Reads `text` into *out; a field that the text does not have keeps its value. With `item` the
 * mapping is the only item of a sequence ("- {a: 1}"). Ignores unknown fields, whatever they hold,
 * and refuses anchors and aliases. Returns false, with a sentence, when anything is wrong. */
bool kiln_yaml_read(const char *text, size_t length, bool item, const kiln_field *fields,
                    int nfields, void *out, char why[KILN_YAML_WHY]);

#endif
