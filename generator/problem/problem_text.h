/* What the files that check, write and read problems and layouts share. */
#ifndef KILN_PROBLEM_TEXT_H
#define KILN_PROBLEM_TEXT_H

#include "generator/base/names.h"
#include "generator/base/refuse.h"

#include "kiln_problem.h"

#include <stdbool.h>

/* One "-part" of a problem's text. The first KILN_ROW_PARTS make the row key. */
typedef struct kiln_part {
    const char *name;
    enum {
        KILN_PART_NUMBER, /* an int64_t */
        KILN_PART_LIST,   /* an int64_t for each spatial axis */
        KILN_PART_FACTOR, /* a float */
        KILN_PART_FLAG,   /* an int or enum that has `value` when the part is there */
        KILN_PART_TYPES,
        KILN_PART_LAYOUTS,
        KILN_PART_BIAS, /* alone, or with the type and layout of a bias that is not plain */
        KILN_PART_ACTIVATION,
        KILN_PART_QUANT
    } form;
    size_t offset; /* of the field in kiln_problem */
    int value;     /* of a number: its default, which is not written */
    int least;     /* of a number */
    int needed;    /* 1: always written, and an error when missing */
} kiln_part;

enum { KILN_PARTS = 24, KILN_ROW_PARTS = 14 };
extern const kiln_part kiln_parts[KILN_PARTS];

/* One word of -q: a field of kiln_problem.quant that differs from its default. */
typedef struct kiln_quant_word {
    const char *name;
    enum {
        KILN_WORD_SCALE, /* a float, 1 by default */
        KILN_WORD_ZERO,  /* an int, 0 by default */
        KILN_WORD_BIT,   /* an int that has the bit `value` */
        KILN_WORD_IS,    /* an int or enum that is `value` */
        KILN_WORD_TYPE   /* a type, y's by default */
    } form;
    size_t offset; /* in kiln_quant */
    int value;
} kiln_quant_word;

enum { KILN_QUANT_WORDS = 16 };
extern const kiln_quant_word kiln_quant_words[KILN_QUANT_WORDS];

/* No size along an axis may pass this limit, nor may products of sizes. Sums of a few never
 * overflow. */
static const int64_t kiln_far = (int64_t)1 << 40;

/* Returns whether `problem`, which may be NULL, has the defaults completed and no value that is
 * outside its field's range: what every answer about a problem needs. Does less than
 * kiln_problem_check(). */
bool kiln_problem_is_complete(const kiln_problem *problem);

/* Reads MIOpen's database key into a checked problem. */
kiln_status kiln_miopen_key_parse(kiln_problem *problem, const char *key, char *why);

#endif
