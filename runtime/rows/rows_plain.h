/* Reads a row that is written as kiln writes rows, on one line, without a YAML parser. */
#ifndef KILN_ROWS_PLAIN_H
#define KILN_ROWS_PLAIN_H

#include "rows_field.h"

/* Reads `- {name: value, ...}` and a newline into *out; values are in double quotes, without
 * backslashes, or words of letters, digits and ".+-". Returns false where the text is anything else
 * or a value is refused: then *out is undefined, and kiln_yaml_read() has the say. Where this
 * function accepts a text, kiln_yaml_read() reads the same from it. */
bool kiln_plain_read(const char *text, size_t length, const kiln_field *fields, int nfields,
                     void *out);

#endif
