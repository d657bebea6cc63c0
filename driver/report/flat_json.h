/* Reads JSON objects that hold texts and numbers only, as `--json` prints them. */
#ifndef KILN_FLAT_JSON_H
#define KILN_FLAT_JSON_H

#include <stdbool.h>
#include <stddef.h>

/* Where a value goes. */
typedef struct flat_json_field {
    const char *name;
    char *text; /* of `size` bytes; a longer text is cut. NULL: the value is a number */
    size_t size;
    double *number;
} flat_json_field;

/* Reads one object; the text ends with a zero. Values of other names, and values of another kind,
 * are passed over; a field that has no value keeps what it had. Returns false where the text is no
 * object, or has an object or a list inside. The text may be hostile. */
bool flat_json_read(const char *text, const flat_json_field *fields, size_t count);

#endif
