/* Numbers to text and back, the same in every locale, without heap. */
#ifndef KILN_TEXT_H
#define KILN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Collects text in a buffer of `size` bytes. Text that does not fit is counted, not written. */
typedef struct kiln_sink {
    char *text;
    size_t size, length;
} kiln_sink;

/* `text` may be NULL: then everything is only counted. */
kiln_sink kiln_sink_open(char *text, size_t size);
void kiln_put(kiln_sink *sink, const char *text);
void kiln_put_int(kiln_sink *sink, int64_t value);
/* Writes the shortest decimal that kiln_scan_float() reads back as the same float. `value` is
 * finite. */
void kiln_put_float(kiln_sink *sink, float value);
/* Writes `count` numbers as "28x28x3". */
void kiln_put_list(kiln_sink *sink, const int64_t *value, int count, char separator);

/* Readers advance *at past the text that they took. Where the text does not fit they return false
 * and leave *at alone. */
bool kiln_scan(const char **at, const char *word);
/* Decimal digits only, up to INT64_MAX. */
bool kiln_scan_int(const char **at, int64_t *value);
/* [-]digits[.digits][e[+-]digits]; a value out of a float's range becomes infinite or zero. */
bool kiln_scan_float(const char **at, float *value);
/* Reads 1 to `most` integers between separators and returns how many, 0 when there is none. Leaves
 * a separator without a number after it. */
int kiln_scan_list(const char **at, int64_t *value, int most, char separator);

/* Copies at most `size` - 1 bytes of untrusted text up to a byte of `stop`, to name a token in a
 * message. Bytes that cannot be printed become '?'. */
void kiln_quote(const char *from, const char *stop, char *text, size_t size);

#endif
