/* Who runs against whom on one work: kiln, and those of its peers that may be the fastest. */
#ifndef BENCH_FIELD_H
#define BENCH_FIELD_H

#include "turns.h"

typedef struct field {
    contender *c[TURNS_CONTENDERS]; /* kiln first */
    int count;
    int bare;        /* how many of them are bare kernels, the last ones */
    void *result[2]; /* kiln's, and that of the peer at hand */
    work in_f32;     /* of a work of another type, for kiln as its own peer */
    bool wrong;      /* kiln ran, but not rightly */
} field;

typedef struct field_options {
    int trials; /* of kiln's search before; 0: none */
    bool brief; /* without CLBlast, whose kernels take seconds to compile and come in last */
    int bare;   /* also the bare kernel, on a device of so many cores; 0: not */
} field_options;

/* Everyone in it has run once and was verified. Bare kernels come last. False, with
 * the reason, when kiln is not fit; to be cleared in both cases. */
bool field_make(field *f, const session *s, const work *w, const rules *r,
                const field_options *options, char *why);
void field_clear(field *f);

#endif
