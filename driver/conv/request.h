/* A request: what one command line asks for, a problem in one or more directions and how to run it.
 */
#ifndef KILN_REQUEST_H
#define KILN_REQUEST_H

#include "driver/base/flags.h"

enum { REQUEST_REPRO_TEXT = 2048 };

typedef struct request {
    const char *word; /* "conv", "convfp16", ... */
    kiln_type type;   /* of the sources, by the word */
    flags flags;
    /* What describes the problem. FLAGS: the flags alone. SHAPE: `base` has the sizes, the flags
     * everything else. KEY: `base` has direction and types too (--problem, or a line of a list
     * that is a problem's name). */
    enum { REQUEST_FLAGS = 0, REQUEST_SHAPE, REQUEST_KEY } source;
    kiln_problem base; /* checked */
} request;

/* Sets *type to the type that a conv word stands for; returns false for any other word. */
bool request_word(const char *word, kiln_type *type);
/* Returns the word of a type; NULL: it has none. */
const char *request_word_of(kiln_type type);

/* Reads --problem and checks flags that exclude each other or are not supported. Returns KILN_OK,
 * or KILN_INVALID or KILN_UNSUPPORTED with a sentence in `why`. */
kiln_status request_check(request *r, char *why);

/* Returns the solver that --solution names; NULL: the library chooses. */
const char *request_solver(const request *r);

/* Returns whether the request includes the direction. */
bool request_wants(const request *r, kiln_direction direction);

/* Makes *p the problem of one direction and checks it. */
kiln_status request_problem(const request *r, kiln_direction direction, kiln_problem *p, char *why);

/* Writes the command line that repeats one direction: "kiln conv -n 16 ...". */
void request_repro(const request *r, kiln_direction direction, char *text, size_t size);

/* Writes the command line that repeats the whole request. */
void request_line(const request *r, char *text, size_t size);

#endif
