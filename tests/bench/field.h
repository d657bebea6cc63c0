/* Who runs against whom on one work: kiln, and those of its peers that may be the fastest. */
#ifndef BENCH_FIELD_H
#define BENCH_FIELD_H

#include "turns.h"

typedef struct field {
    contender *c[TURNS_CONTENDERS]; /* kiln first */
    int count;
    void *result[2]; /* kiln's, and that of the peer at hand */
    work in_f32;     /* of a work of another type, for kiln as its own peer */
    bool wrong;      /* kiln ran, but not rightly */
} field;

/* Everyone in it has run once and was verified. kiln searches first where `trials` is not 0; a
 * brief field is without CLBlast, whose kernels take seconds to compile and come in last. False,
 * with the reason, when kiln is not fit; to be cleared in both cases. */
bool field_make(field *f, const session *s, const work *w, const rules *r, int trials, bool brief,
                char *why);
void field_clear(field *f);

#endif
