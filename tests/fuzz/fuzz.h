/* What fuzz targets share: the requirement, a text of the input, and a reader of its bytes. */
#ifndef KILN_FUZZ_H
#define KILN_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The entry of libFuzzer, and of replay.c. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program where a result breaks its contract. */
#define require(truth) ((truth) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #truth))

static inline _Noreturn void fuzz_fail(const char *file, int line, const char *truth)
{
    fprintf(stderr, "%s:%d: not true: %s\n", file, line, truth);
    abort();
}

/* Longer inputs are left alone: they take time and reach nothing that short ones do not. */
enum { FUZZ_MOST = 1024 };

/* The input as a text, at the end of the array: a sanitizer sees a read past the final zero. */
typedef struct fuzz_text {
    char room[FUZZ_MOST + 1];
} fuzz_text;

/* Returns the text in `t`; the size is at most FUZZ_MOST. */
static inline char *fuzz_text_of(fuzz_text *t, const uint8_t *data, size_t size)
{
    char *text = t->room + FUZZ_MOST - size;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/* Ends the first line of *text there, moves *text behind that line, and returns the line. Past the
 * last line it returns "". */
static inline char *fuzz_next_line(char **text)
{
    char *line = *text, *end = strchr(line, '\n');
    *text = end ? end + 1 : line + strlen(line);
    if (end)
        *end = '\0';
    return line;
}

/* Bytes of the input, taken one after the other; behind the last one, zeros. */
typedef struct fuzz_bytes {
    const uint8_t *at;
    size_t left;
} fuzz_bytes;

static inline int fuzz_byte(fuzz_bytes *b)
{
    if (b->left == 0)
        return 0;
    b->left--;
    return *b->at++;
}

/* A reason for a refusal is a sentence that ends within its array. */
static inline void fuzz_check_why(const char *why, size_t size)
{
    require(*why != '\0');
    require(memchr(why, '\0', size) != NULL);
}

#endif
