/* Reads one YAML mapping of known scalar fields into a struct, by a table. */
#ifndef KILN_ROWS_YAML_H
#define KILN_ROWS_YAML_H

#include "rows_field.h"

/* Reads `text` into *out; a field that the text does not have keeps its value. With `item` the
 * mapping is the only item of a sequence ("- {a: 1}"). Ignores unknown fields, whatever they hold,
 * and refuses anchors and aliases. Returns false, with a sentence, when anything is wrong. */
bool kiln_yaml_read(const char *text, size_t length, bool item, const kiln_field *fields,
                    int nfields, void *out, char why[KILN_FIELD_WHY]);

#endif
