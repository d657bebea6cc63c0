/* What `kiln layout` is asked to do, and the words that do it. */
#ifndef KILN_DRIVER_LAYOUT_WORDS_H
#define KILN_DRIVER_LAYOUT_WORDS_H

#include "kiln.h"

#include <stdio.h>

typedef struct layout_request {
    const char *order;     /* the logical order of the sizes; NULL: the layout's own */
    const char *from, *to; /* convert */
    const char *profile;   /* show */
    const char *device;    /* convert; NULL: the default one */
    const char *name[2];   /* what stands without a flag */
    int names, sizes;      /* how many of them */
    int64_t size[KILN_MAX_DIMS];
    kiln_type type, to_type;
    double pad;
    bool json, host;
} layout_request;

/* Each prints its result, or returns the reason in why[KILN_ERROR_TEXT]. */
kiln_status layout_list(const layout_request *r, char *why);
kiln_status layout_show(const layout_request *r, char *why);
kiln_status layout_convert(const layout_request *r, char *why);
kiln_status layout_docs(const layout_request *r, char *why);

/* ---- parts that show and docs share ---- */

/* "offset = ((n*H+h)*W+w)*C'+c" and, a line each, what C' is; of an image x, y, lane and its size.
 * Every line begins with `indent`. */
void layout_print_formula(FILE *to, const kiln_layout *layout, const char *indent);

/* The cells in the order of storage, each with its element's place in the logical order, or a dot.
 * At most `most` lines. */
void layout_print_picture(FILE *to, const kiln_storage *storage, const char *indent, int most);

/* "N=2 C=3 H=5 W=7" */
void layout_print_sizes(FILE *to, const kiln_storage *storage);
int64_t layout_count(const kiln_storage *storage); /* elements */

#endif
