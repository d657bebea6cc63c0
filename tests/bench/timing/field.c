/* Chooses the contenders of a comparison. */
#include "field.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BARE = 3 };

void field_clear(field *f)
{
    for (int i = 0; i < f->count; i++)
        contender_release(f->c[i]);
    for (int i = 0; i < 2; i++)
        free(f->result[i]);
    work_free(&f->in_f32);
}

/* Adds a contender whose result is right. Results in f32 are compared with kiln's whole. */
static void admit_peer(field *f, const work *w, contender *c)
{
    char why[KILN_ERROR_TEXT];
    if (contender_verify(c, w, f->result[1], why) &&
        (work_type(w, 'w') != KILN_F32 ||
         contender_agree(w, f->c[0], f->result[0], c, f->result[1], why))) {
        f->c[f->count++] = c;
        return;
    }
    printf("# %s: peer left out: %s\n", w->layer->name, why);
    contender_release(c);
}

typedef struct glimpse {
    contender *c;
    double ms;
    bool calm;
} glimpse;

static bool is_known(const glimpse *g, int n, const contender *c)
{
    for (int i = 0; i < n; i++)
        if (strcmp(g[i].c->detail, c->detail) == 0)
            return true;
    return false;
}

/* Whether this is oneDNN's reference loop, which it takes where no generator of its own does: a
 * thousand times as slow, except on tiny layers. */
static bool is_hopeless(const contender *c, const work *w)
{
    return strstr(c->detail, " ref:") != NULL && w->flops > 1e7;
}

/* Adds the ways of oneDNN that may be the fastest, each implementation once. */
static void admit_onednn(field *f, const work *w, const rules *r)
{
    enum { WAYS = TURNS_CONTENDERS - BARE - 2 }; /* without kiln and CLBlast */
    static const double near = 1.4; /* an undisturbed glance is off by less than this factor */
    glimpse g[WAYS];
    double best = HUGE_VAL;
    int n = 0;
    char why[KILN_ERROR_TEXT];
    for (int i = 0; i < contender_onednn_ways() && n < WAYS; i++) {
        contender *c = contender_onednn(w, r, i, why);
        if (!c && *why)
            printf("# %s: oneDNN's %s\n", w->layer->name, why);
        if (!c)
            continue;
        g[n] = (glimpse){.c = c};
        bool idle = is_known(g, n, c) || (n > 0 && is_hopeless(c, w));
        g[n].ms = idle ? -1 : turns_glance(c, near * best, &g[n].calm);
        if (g[n].ms < 0) {
            contender_release(c);
            continue;
        }
        if (g[n].calm)
            best = fmin(best, g[n].ms);
        n++;
    }
    for (int i = 0; i < n; i++)
        if (!g[i].calm || g[i].ms <= near * best)
            admit_peer(f, w, g[i].c);
        else
            contender_release(g[i].c);
}

/* Adds kiln in f32 on the same layer. */
static void admit_f32(field *f, const session *s, const work *w, const rules *r)
{
    char why[KILN_ERROR_TEXT] = "out of memory";
    work *own = &f->in_f32;
    contender *c = NULL;
    if (work_make(own, w->layer, w->problem.direction, KILN_F32))
        c = contender_kiln(s, own, r, NULL, why);
    if (c && contender_verify(c, own, f->result[1], why)) {
        snprintf(c->name, sizeof c->name, CONTENDER_KILN_F32);
        f->c[f->count++] = c;
        return;
    }
    printf("# %s: peer left out: %s\n", w->layer->name, why);
    contender_release(c);
}

/* Adds bare kernels: few work-groups start soonest, many leave no core idle; the fastest counts. */
static void admit_bare(field *f, const session *s, const work *w, const rules *r, int cores)
{
    char why[KILN_ERROR_TEXT];
    const int groups[BARE] = {1, cores, 8 * cores};
    for (int i = 0; cores > 0 && i < BARE; i++) {
        contender *c = contender_bare(s, w, r, groups[i], why);
        if (!c) {
            printf("# %s: %s\n", w->layer->name, why);
            return;
        }
        f->c[f->count++] = c;
        f->bare++;
    }
}

bool field_make(field *f, const session *s, const work *w, const rules *r,
                const field_options *options, char *why)
{
    const size_t bytes = (size_t)reference_count(&w->problem) * sizeof(float); /* the widest type */
    *f = (field){.result = {malloc(bytes), malloc(bytes)}};
    snprintf(why, KILN_ERROR_TEXT, "out of memory");
    if (!f->result[0] || !f->result[1])
        return false;
    f->c[0] = options->trials > 0 ? contender_kiln_tuned(s, w, r, options->trials, false, why)
                                  : contender_kiln(s, w, r, NULL, why);
    if (!f->c[0])
        return false;
    f->count = 1;
    f->wrong = !contender_verify(f->c[0], w, f->result[0], why);
    if (f->wrong)
        return false;
    admit_onednn(f, w, r);
    if (work_type(w, 'w') != KILN_F32) {
        admit_f32(f, s, w, r);
        return true;
    }
    char refusal[KILN_ERROR_TEXT];
    contender *c =
        r->layout == RULES_NCHW && !options->brief ? contender_clblast(s, w, refusal) : NULL;
    if (c)
        admit_peer(f, w, c);
    admit_bare(f, s, w, r, options->bare);
    return true;
}
