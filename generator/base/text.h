/* Numbers to text and back, the same in every locale, without heap. */
#ifndef KILN_TEXT_H
#define KILN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Collects text in a buffer of `size` bytes; what does not fit is counted, not written. */
typedef struct kiln_sink {
    char *text;
    size_t size, length;
} kiln_sink;

kiln_sink kiln_sink_open(char *text, size_t size);
void kiln_put(kiln_sink *sink, const char *text);
void kiln_put_int(kiln_sink *sink, int64_t value);
/* The shortest decimal that kiln_scan_float() reads back as the same float. Finite values only. */
void kiln_put_float(kiln_sink *sink, float value);
/* "28x28x3" */
void kiln_put_list(kiln_sink *sink, const int64_t *value, int count, char separator);

/* Readers advance *at past what they took; they leave it alone and return false otherwise. */
bool kiln_scan(const char **at, const char *word);
/* Decimal digits only, up to INT64_MAX. */
bool kiln_scan_int(const char **at, int64_t *value);
/* [-]digits[.digits][e[+-]digits]; a value out of a float's range becomes infinite or zero. */
bool kiln_scan_float(const char **at, float *value);
/* 1 to `most` integers between separators; how many, 0 when none. A separator without a number
 * after it is not taken. */
int kiln_scan_list(const char **at, int64_t *value, int most, char separator);

/* Copies at most `size` - 1 bytes of untrusted text up to a byte of `stop`, with '?' for what
 * cannot be printed: for naming a token in a message. */
void kiln_quote(const char *from, const char *stop, char *text, size_t size);

#endif
