/* Characters of texts that anybody may have written: names of files, solvers, layers, devices. */
#ifndef KILN_UTF8_H
#define KILN_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { UTF8_REPLACEMENT = 0xfffd };

/* Reads the character at `s`, which is not at its end. Returns its bytes, at least 1; *value
 * becomes UTF8_REPLACEMENT where they are no character. */
size_t utf8_read(const char *s, uint32_t *value);

/* Returns whether a reader sees nothing of the character: it is a control, has no width, or turns
 * the direction of the text around it. */
bool utf8_is_hidden(uint32_t value);

/* Write the character at `s`; as "\u202e" if it is hidden; as the replacement if it is none.
 * Returns its bytes. */
size_t utf8_write(FILE *to, const char *s);

#endif
