/* The field of one work: kiln and the peers that may be the fastest. */
#ifndef BENCH_FIELD_H
#define BENCH_FIELD_H

#include "turns.h"

typedef struct field {
    contender *c[TURNS_CONTENDERS]; /* kiln first */
    int count;
    int bare;        /* number of bare kernels, which come last */
    void *result[2]; /* kiln's, and that of the current peer */
    work in_f32;     /* a work of another type in f32, for kiln as the peer */
    bool wrong;      /* kiln ran, but its result was wrong */
} field;

typedef struct field_options {
    int trials; /* of kiln's search before the comparison; 0: none */
    bool brief; /* leave out CLBlast, whose kernels compile for seconds and are slower */
    int bare;   /* add bare kernels for a device of so many cores; 0: none */
} field_options;

/* Makes the field: every contender in it has run once and is verified. Returns false, with the
 * reason in `why`, where kiln cannot run or is wrong. Release the field in both cases. */
bool field_make(field *f, const session *s, const work *w, const rules *r,
                const field_options *options, char *why);
void field_clear(field *f);

#endif
