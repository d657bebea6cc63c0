/* Contenders: implementations of one convolution, ready to run, which a bench times.
 *
 * All contenders of a work read the same plain arrays and give a plain array back, whatever layouts
 * they compute in. Each function that makes a contender returns NULL, with a sentence in
 * why[KILN_ERROR_TEXT], where the implementation cannot do the work.
 */
#ifndef BENCH_CONTENDER_H
#define BENCH_CONTENDER_H

#include "driver/base/session.h"
#include "tests/bench/work/work.h"

#include <stdbool.h>

/* The rules of one comparison. */
typedef enum rules_algorithm {
    RULES_ANY = 0,
    RULES_DIRECT,
    RULES_WINOGRAD,
    RULES_REDUCED /* any, and products may be rounded to a shorter type */
} rules_algorithm;
typedef enum rules_layout { RULES_OWN = 0, RULES_NCHW, RULES_NHWC, RULES_GIVEN } rules_layout;
typedef struct rules {
    rules_layout layout; /* of activations before and after a run; RULES_OWN: the layouts that the
                            contender prefers. Weights are constants: contenders rearrange them
                            before the clock starts */
    rules_algorithm algorithm;
    const char
        *filter;      /* layout of weights before a run, or of their gradient after it; NULL: OIHW,
                         or the contender's where `layout` is RULES_OWN and weights are written */
    const char *data; /* layout of activations where `layout` is RULES_GIVEN */
} rules;

/* Returns the rules with other layouts: of activations, as --layout names them, and of filters.
 * NULL: as they are. */
rules rules_with(const rules *r, const char *layout, const char *filter);
/* Writes the layouts that the rules give into a problem; "any" where they leave them open. */
void rules_give_layouts(const rules *r, kiln_problem *p);

typedef struct contender contender;

typedef struct contender_calls {
    bool (*enqueue)(contender *c); /* starts one complete run; may wait for its end */
    bool (*finish)(contender *c);  /* waits for all runs that were started */
    bool (*read)(contender *c, void *plain);
    void (*release)(contender *c);
} contender_calls;

struct contender {
    const contender_calls *calls;
    char name[32];        /* "kiln", "oneDNN", "CLBlast", "bare" */
    char detail[240];     /* its algorithm, layouts and config */
    double amplification; /* of rounding errors, as in kiln_op_info */
    double predicted_ms;  /* kiln's; else 0 */
    bool starts_only;     /* the calling thread starts what a device's threads do (cpus.h) */
};

/* Makes kiln's choice under the rules, or what `choice` (may be NULL) forces. */
contender *contender_kiln(const session *s, const work *w, const rules *r,
                          const kiln_choice *choice, char *why);

/* Makes kiln with its solver number `index`, below contender_kiln_solvers(), and that solver's
 * guess. Returns NULL also where the solver predicts more than `most_ms`. */
contender *contender_kiln_guess(const session *s, const work *w, const rules *r, int index,
                                double most_ms, char *why);
int contender_kiln_solvers(const session *s, const work *w);

/* Makes kiln's best after a search of about `trials` trials, or its choice where the search fails.
 * With `each` prints every trial. */
contender *contender_kiln_tuned(const session *s, const work *w, const rules *r, int trials,
                                bool each, char *why);

/* Makes kiln as a tuning row decides. Returns NULL with an empty `why` where no row does. */
contender *contender_kiln_row(const session *s, const work *w, const rules *r, char *why);

/* Peers, the libraries that kiln is compared with. A peer that was not found when kiln was built
 * has no ways and no version.
 *
 * Makes number `index` of the ways in which oneDNN may do the work. Returns NULL with an empty
 * `why` where oneDNN does not do it this way. */
contender *contender_onednn(const work *w, const rules *r, int index, char *why);
int contender_onednn_ways(void);
const char *contender_onednn_version(void);

/* Makes CLBlast, which takes NCHW only. */
contender *contender_clblast(const session *s, const work *w, char *why);
const char *contender_clblast_version(void);

/* The name of kiln in f32 beside kiln in another type. */
#define CONTENDER_KILN_F32 "kiln f32"

/* Makes the bare kernel (contender_bare.c), with `groups` work-groups. It computes no convolution,
 * so there is nothing to verify. */
#define CONTENDER_BARE "bare"
contender *contender_bare(const session *s, const work *w, const rules *r, int groups, char *why);

/* Runs the contender once and judges its result by a sampled reference in double. */
bool contender_verify(contender *c, const work *w, void *result, char *why);
/* Returns whether two f32 results agree everywhere, within rounding errors. */
bool contender_agree(const work *w, const contender *a, const float *a_result, const contender *b,
                     const float *b_result, char *why);

void contender_release(contender *c); /* NULL is fine */

#endif
