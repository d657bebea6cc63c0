/* Solvers whose fits have numbers that can change, and what their predictions are worth.
 *
 *     fit_model m;
 *     fit_model_open(&m, "gemm,gemm_weights", why);
 *     fit_model_descend(&m, &samples);        // m.fit[i].numbers are the fitted ones
 */
#ifndef BENCH_FIT_MODEL_H
#define BENCH_FIT_MODEL_H

#include "generator/plan/solver.h"

enum { FIT_SOLVERS = 8, FIT_FITS = 8, FIT_NUMBERS = 32 };

/* A measured config. */
typedef struct fit_sample {
    kiln_shape shape; /* as the solver sees it */
    kiln_config config;
    int solver;  /* of the model */
    int problem; /* counted from 0 */
    double ms;
} fit_sample;

typedef struct fit_samples {
    const kiln_device_facts *device;
    fit_sample *at;
    int count, room, problems;
} fit_samples;

typedef struct fit_model {
    kiln_solver solver[FIT_SOLVERS]; /* copies, which read `fit` */
    int solvers;
    const kiln_fit *list[FIT_SOLVERS][FIT_FITS]; /* of each solver */
    kiln_fit fit[FIT_FITS];                      /* copies, which have `now` as numbers */
    const kiln_fit *from[FIT_FITS];
    double now[FIT_FITS][FIT_NUMBERS];
    bool shown[FIT_FITS][FIT_NUMBERS]; /* the samples tell it; set by fit_model_descend() */
    int fits;
} fit_model;

/* What predictions are worth: of all samples, or of problems. */
typedef struct fit_worth {
    int configs, problems;
    double mean,
        deviation; /* geometric mean of predicted / measured; root mean square of its log */
    double worst;  /* the ratio furthest from 1 */
    const fit_sample *worst_sample;
    /* Speed of the config that is predicted to be the fastest, over that of the fastest one. */
    double choice, worst_choice;
} fit_worth;

/* Which problems count: of each FIT_APART neighbouring ones the last is left out of the fit. */
enum { FIT_APART = 4 };
typedef enum fit_part { FIT_ALL = 0, FIT_TAKEN, FIT_LEFT_OUT } fit_part;

/* Makes a model of solvers, names with commas between them. The model must not move. Returns false,
 * with a sentence, where one is unknown or was not fitted. */
bool fit_model_open(fit_model *m, const char *solvers, char *why, size_t size);

double fit_model_ms(const fit_model *m, const fit_samples *s, const fit_sample *one);
fit_worth fit_model_worth(const fit_model *m, const fit_samples *s, fit_part part);

/* Changes one number after the other while that makes the squares of the logs of predicted over
 * measured smaller, for the problems that are taken. A number that is 0 stays 0: its term is not
 * part of the formula. A number that the samples do not tell gets its old value back. */
void fit_model_descend(fit_model *m, const fit_samples *s);

#endif
