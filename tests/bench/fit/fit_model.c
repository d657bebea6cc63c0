/* Fits by descent along one number after the other: formulas have bends, which methods that follow
 * a slope do not like, and a dozen numbers. */
#include "fit_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the model ---- */

/* Adds the fit unless another solver has it, too. Returns its place, -1: there is none left. */
static int add_fit(fit_model *m, const kiln_fit *fit)
{
    for (int i = 0; i < m->fits; i++)
        if (m->from[i] == fit)
            return i;
    if (m->fits == FIT_FITS || fit->count > FIT_NUMBERS)
        return -1;
    const int i = m->fits++;
    m->from[i] = fit;
    m->fit[i] = *fit;
    m->fit[i].numbers = m->now[i];
    memcpy(m->now[i], fit->numbers, (size_t)fit->count * sizeof(double));
    return i;
}

static bool add_solver(fit_model *m, const char *name, char *why, size_t size)
{
    const kiln_solver *solver = kiln_solver_named(name);
    if (!solver || m->solvers == FIT_SOLVERS) {
        snprintf(why, size, solver ? "%s is one solver too many" : "there is no solver \"%s\"",
                 name);
        return false;
    }
    kiln_solver *own = &m->solver[m->solvers];
    *own = *solver;
    own->fits = m->list[m->solvers];
    if (solver->nfits == 0) {
        snprintf(why, size, "the numbers of %s are no kiln_fit", name);
        return false;
    }
    for (int i = 0; i < solver->nfits; i++) {
        const int at = i < FIT_FITS ? add_fit(m, solver->fits[i]) : -1;
        if (at < 0) {
            snprintf(why, size, "%s has more fits or numbers than there is room for", name);
            return false;
        }
        m->list[m->solvers][i] = &m->fit[at];
    }
    m->solvers++;
    return true;
}

bool fit_model_open(fit_model *m, const char *solvers, char *why, size_t size)
{
    *m = (fit_model){0};
    for (const char *at = solvers; *at; at += strcspn(at, ","), at += *at == ',') {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        if (!add_solver(m, name, why, size))
            return false;
    }
    return true;
}

double fit_model_ms(const fit_model *m, const fit_samples *s, const fit_sample *one)
{
    return kiln_solver_predict(&m->solver[one->solver], &one->shape, s->device, &one->config);
}

/* ---- what it is worth ---- */

static bool counts(const fit_samples *s, const fit_sample *one, fit_part part)
{
    const bool left_out = s->problems >= FIT_APART && one->problem % FIT_APART == FIT_APART - 1;
    return part == FIT_ALL || (part == FIT_LEFT_OUT) == left_out;
}

/* Mean of the squares of the logs. */
static double error_of(const fit_model *m, const fit_samples *s, fit_part part)
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < s->count; i++)
        if (counts(s, &s->at[i], part)) {
            const double log_ratio = log(fit_model_ms(m, s, &s->at[i]) / s->at[i].ms);
            sum += log_ratio * log_ratio;
            count++;
        }
    return count ? sum / count : 0;
}

static void add_choice(const fit_model *m, const fit_samples *s, int problem, fit_worth *w)
{
    double fastest = INFINITY, predicted = INFINITY, chosen = INFINITY;
    for (int i = 0; i < s->count; i++) {
        const fit_sample *one = &s->at[i];
        if (one->problem != problem)
            continue;
        const double ms = fit_model_ms(m, s, one);
        fastest = fmin(fastest, one->ms);
        if (ms < predicted) {
            predicted = ms;
            chosen = one->ms;
        }
    }
    const double share = fastest / chosen;
    w->choice += log(share);
    w->worst_choice = fmin(w->worst_choice, share);
    w->problems++;
}

fit_worth fit_model_worth(const fit_model *m, const fit_samples *s, fit_part part)
{
    fit_worth w = {.worst = 1, .worst_choice = 1};
    int last = -1;
    for (int i = 0; i < s->count; i++) {
        const fit_sample *one = &s->at[i];
        if (!counts(s, one, part))
            continue;
        const double ratio = fit_model_ms(m, s, one) / one->ms;
        w.configs++;
        w.mean += log(ratio);
        if (!w.worst_sample || fabs(log(ratio)) > fabs(log(w.worst))) {
            w.worst = ratio;
            w.worst_sample = one;
        }
        if (one->problem > last) { /* samples are in the order of their problems */
            last = one->problem;
            add_choice(m, s, last, &w);
        }
    }
    if (w.configs == 0)
        return w;
    w.mean = exp(w.mean / w.configs);
    w.deviation = sqrt(error_of(m, s, part));
    w.choice = exp(w.choice / w.problems);
    return w;
}

/* ---- the descent ---- */

/* Multiplies a number where that makes the error smaller. */
static bool improves(fit_model *m, const fit_samples *s, int fit, int number, double factor,
                     double *error)
{
    enum { FURTHEST = 16 }; /* from where it began */
    const double old = m->now[fit][number], began = ((const double *)m->from[fit]->numbers)[number];
    const double far = old * factor / began;
    if (far > FURTHEST || far < 1.0 / FURTHEST)
        return false;
    m->now[fit][number] = old * factor;
    const double now = error_of(m, s, FIT_TAKEN);
    if (now < *error * (1 - 1e-9)) {
        *error = now;
        return true;
    }
    m->now[fit][number] = old;
    return false;
}

/* Goes over all numbers once. */
static bool sweep(fit_model *m, const fit_samples *s, double factor, double *error)
{
    bool better = false;
    for (int f = 0; f < m->fits; f++)
        for (int n = 0; n < m->fit[f].count; n++)
            if (m->now[f][n] != 0)
                better |=
                    improves(m, s, f, n, factor, error) || improves(m, s, f, n, 1 / factor, error);
    return better;
}

/* Whether half and twice the number make the error no larger by more than a hundredth. */
static bool is_told(fit_model *m, const fit_samples *s, int fit, int number, double error)
{
    const double old = m->now[fit][number];
    double least = INFINITY;
    for (int i = 0; i < 2; i++) {
        m->now[fit][number] = i ? old / 2 : old * 2;
        least = fmin(least, error_of(m, s, FIT_TAKEN));
    }
    m->now[fit][number] = old;
    return least > 1.01 * error + 1e-9;
}

static void keep_told(fit_model *m, const fit_samples *s, double *error)
{
    for (int f = 0; f < m->fits; f++)
        for (int n = 0; n < m->fit[f].count; n++) {
            m->shown[f][n] = m->now[f][n] != 0 && is_told(m, s, f, n, *error);
            if (!m->shown[f][n]) {
                m->now[f][n] = ((const double *)m->from[f]->numbers)[n];
                *error = error_of(m, s, FIT_TAKEN);
            }
        }
}

/* Three significant digits. */
static double rounded(double v)
{
    char text[32];
    snprintf(text, sizeof text, "%.3g", v);
    double out = v;
    sscanf(text, "%lf", &out);
    return out;
}

void fit_model_descend(fit_model *m, const fit_samples *s)
{
    enum { MOST_SWEEPS = 400 };
    double error = error_of(m, s, FIT_TAKEN), factor = 2;
    for (int i = 0; i < MOST_SWEEPS && factor > 1.004; i++)
        if (!sweep(m, s, factor, &error))
            factor = sqrt(factor);
    keep_told(m, s, &error);
    for (int f = 0; f < m->fits; f++)
        for (int n = 0; n < m->fit[f].count; n++)
            if (m->shown[f][n])
                m->now[f][n] = rounded(m->now[f][n]);
}
