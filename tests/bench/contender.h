/* One implementation of one convolution, ready to run: what a bench times.
 *
 * All contenders of a work read the same plain arrays and hand back a plain array, whatever layouts
 * they compute in. Whoever makes one returns NULL, with a sentence in why[KILN_ERROR_TEXT], when
 * the implementation cannot do the work.
 */
#ifndef BENCH_CONTENDER_H
#define BENCH_CONTENDER_H

#include "driver/session.h"
#include "work.h"

#include <stdbool.h>

/* What the contenders of one comparison may do. */
typedef enum rules_algorithm { RULES_ANY = 0, RULES_DIRECT, RULES_WINOGRAD } rules_algorithm;
typedef enum rules_layout { RULES_OWN = 0, RULES_NCHW, RULES_NHWC } rules_layout;
typedef struct rules {
    rules_layout layout; /* of activations as they come and go; RULES_OWN: what the contender likes
                            best. Weights are constants, rearranged before the clock starts, in all
                            cases */
    rules_algorithm algorithm;
} rules;

typedef struct contender contender;

typedef struct contender_calls {
    bool (*enqueue)(contender *c); /* starts one complete run; may return when it is done */
    bool (*finish)(contender *c);  /* waits for all runs started */
    bool (*read)(contender *c, void *plain);
    void (*release)(contender *c);
} contender_calls;

struct contender {
    const contender_calls *calls;
    char name[32];        /* "kiln", "oneDNN", "CLBlast", "bare" */
    char detail[240];     /* which of its algorithms, layouts and configs */
    double amplification; /* of rounding errors, as kiln_op_info has it */
    double predicted_ms;  /* kiln's; else 0 */
};

/* kiln's choice under the rules, or what `choice` (may be NULL) forces. */
contender *contender_kiln(const session *s, const work *w, const rules *r,
                          const kiln_choice *choice, char *why);

/* kiln by its solver number `index`, with that solver's guess: NULL also where it predicts to take
 * more than `most_ms`. Numbers end where contender_kiln_solvers() says. */
contender *contender_kiln_guess(const session *s, const work *w, const rules *r, int index,
                                double most_ms, char *why);
int contender_kiln_solvers(const session *s, const work *w);

/* kiln's best after a search of about so many trials; its choice on failure. */
contender *contender_kiln_tuned(const session *s, const work *w, const rules *r, int trials,
                                char *why);

/* kiln as a tuning row decides; NULL with nothing in `why` where none does. */
contender *contender_kiln_row(const session *s, const work *w, const rules *r, char *why);

/* Peers; where one was not found when kiln was built, there is no way and no version.
 *
 * Number `index` of the ways in which oneDNN may do it; NULL with nothing in `why` where it does
 * not do it this way. */
contender *contender_onednn(const work *w, const rules *r, int index, char *why);
int contender_onednn_ways(void);
const char *contender_onednn_version(void);

/* NCHW only. */
contender *contender_clblast(const session *s, const work *w, char *why);
const char *contender_clblast_version(void);

/* No convolution, but what each has to do at least, in so many work-groups: see contender_bare.c.
 * There is nothing to verify. */
#define CONTENDER_BARE "bare"
contender *contender_bare(const session *s, const work *w, const rules *r, int groups, char *why);

/* Runs once and judges what it wrote by a sampled reference in double. */
bool contender_verify(contender *c, const work *w, void *result, char *why);
/* Whether two results, both f32, agree everywhere, as far as rounding errors let them. */
bool contender_agree(const work *w, const contender *a, const float *a_result, const contender *b,
                     const float *b_result, char *why);

void contender_release(contender *c); /* NULL is fine */

#endif
