/* The request of a `kiln layout` command line, and the words that carry it out. */
#ifndef KILN_DRIVER_LAYOUT_WORDS_H
#define KILN_DRIVER_LAYOUT_WORDS_H

#include "kiln.h"

#include <stdio.h>

typedef struct layout_request {
    const char *order;     /* the logical order of the sizes; NULL: the layout's own */
    const char *from, *to; /* convert */
    const char *profile;   /* show */
    const char *device;    /* convert; NULL: the default one */
    const char *name[2];   /* arguments without a flag: layouts or files */
    int names, sizes;      /* the numbers of names and sizes */
    int64_t size[KILN_MAX_DIMS];
    kiln_type type, to_type;
    double pad;
    bool json, host;
} layout_request;

/* Each prints its result, or returns a status with the reason in why[KILN_ERROR_TEXT]. */
kiln_status layout_list(const layout_request *r, char *why);
kiln_status layout_show(const layout_request *r, char *why);
kiln_status layout_convert(const layout_request *r, char *why);
kiln_status layout_docs(const layout_request *r, char *why);

/* ---- parts that show and docs share ---- */

/* Returns whether the request has as many sizes as the layout has dims; else says so in `why`. */
bool layout_check_sizes(const layout_request *r, const kiln_layout *layout, char *why);

/* Prints "offset = ((n*H+h)*W+w)*C'+c", then a line for each rounded size such as C'; for an image
 * prints x, y, lane and the size of the image. Every line begins with `indent`. */
void layout_print_formula(FILE *to, const kiln_layout *layout, const char *indent);

/* Prints the cells in the order of storage, each with its element's index in the logical order, or
 * a dot for padding; at most `most` lines. */
void layout_print_picture(FILE *to, const kiln_storage *storage, const char *indent, int most);

/* Prints "N=2 C=3 H=5 W=7". */
void layout_print_sizes(FILE *to, const kiln_storage *storage);
/* Returns the number of elements, without padding. */
int64_t layout_count(const kiln_storage *storage);

#endif
