/* Text of an HTML page: everything that comes from outside is escaped. */
#ifndef KILN_HTML_H
#define KILN_HTML_H

#include <stdio.h>

/* Writes a text so that it is a text in any place of a page, quoted attributes included. What is
 * not UTF-8, and control characters, become U+FFFD. */
void html_text(FILE *to, const char *text);

/* Writes `pattern` as it is, but each "%" becomes the next argument, a text, escaped. The pattern
 * itself is always one of the program's own. */
void html_fill(FILE *to, const char *pattern, ...);

enum { HTML_NUMBER = 32 };

/* Writes a number as a person reads it: three significant digits, no exponent. Returns `text`. */
const char *html_number(double value, char text[HTML_NUMBER]);

#endif
