/* What `kiln doctor` says: a line or a JSON object for each finding, and a paragraph for a report.
 */
#ifndef KILN_TOLD_H
#define KILN_TOLD_H

#include "finding.h"

#include <stddef.h>

/* Replaces HOME, the user's own folder and the user's name in a path, in place. */
void told_privately(char *text, size_t size);

void told_line(const finding *f);
void told_json(const finding *f);

/* Prints all findings as one paragraph. */
void told_paragraph(const finding *f, size_t count);

#endif
