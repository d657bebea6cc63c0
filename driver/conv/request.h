/* What one line asks for: a problem in one or more directions, and how to run it. */
#ifndef KILN_REQUEST_H
#define KILN_REQUEST_H

#include "driver/flags.h"

enum { REQUEST_REPRO_TEXT = 2048 };

typedef struct request {
    const char *word; /* "conv", "convfp16", ... */
    kiln_type type;   /* of the sources, by the word */
    flags flags;
    /* Where the sizes are: in the flags; in `base`, all else in the flags; or in `base`, whose
     * direction and types hold too (--problem, or a line that is a problem's name). */
    enum { REQUEST_FLAGS = 0, REQUEST_SHAPE, REQUEST_KEY } source;
    kiln_problem base; /* checked */
} request;

/* The word's type; false when it is not one of the conv words. */
bool request_word(const char *word, kiln_type *type);

/* Reads --problem and refuses what the flags must not ask for together or at all: KILN_INVALID or
 * KILN_UNSUPPORTED with a sentence in `why`. */
kiln_status request_check(request *r, char *why);

/* True where the request includes the direction. */
bool request_wants(const request *r, kiln_direction direction);

/* The checked problem of one direction. */
kiln_status request_problem(const request *r, kiln_direction direction, kiln_problem *p, char *why);

/* "kiln conv -n 16 ...": the line that repeats one direction of it. */
void request_repro(const request *r, kiln_direction direction, char *text, size_t size);

/* The whole request as such a line. */
void request_line(const request *r, char *text, size_t size);

#endif
