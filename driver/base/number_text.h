/* Numbers in tables: a file may hold any. */
#ifndef KILN_NUMBER_TEXT_H
#define KILN_NUMBER_TEXT_H

#include <stdint.h>

enum { NUMBER_TEXT = 32 };

/* Writes the number with so many decimals; one of seven digits or more, with an exponent. Returns
 * text. */
const char *number_text(double value, int decimals, char text[NUMBER_TEXT]);

/* Writes a number of bytes with its unit: "12 B", "3.4 MiB". Returns text. */
const char *size_text(int64_t bytes, char text[NUMBER_TEXT]);

#endif
