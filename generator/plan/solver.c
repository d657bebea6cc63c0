/* The registry, and what every solver's configs have in common: text, legality, enumeration. */
#include "solver.h"

#include "generator/base/names.h"
#include "generator/base/types.h"
#include "generator/problem/problem_layout.h"

#include "staging.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kiln_prefer_layout(char layout[KILN_LAYOUT_TEXT], const char *name)
{
    if (!kiln_layout_is_any(layout))
        return;
    memset(layout, 0, KILN_LAYOUT_TEXT);
    memcpy(layout, name, strnlen(name, KILN_LAYOUT_TEXT - 1));
}

static bool lacks_type(const kiln_solver *solver, const kiln_shape *s, kiln_why *why)
{
    const kiln_type all[] = {s->x_type, s->w_type, s->y_type};
    for (int i = 0; i < 3 && !solver->any_type; i++)
        if (kiln_type_facts(all[i])->stored_only)
            return kiln_no(why,
                           "it has no instructions for %s; direct, general and naive convert it",
                           kiln_type_name(all[i]));
    return false;
}

/* Whether a tensor that a stage converts, or makes results in, is an image for the solver. */
static bool lacks_images(const kiln_shape *s, kiln_why *why)
{
    const bool image =
        strchr(s->x_layout, '|') || strchr(s->w_layout, '|') || strchr(s->y_layout, '|');
    return s->split && image &&
           kiln_no(why, "stages convert tensors or make results, in buffers and not in images");
}

bool kiln_reject_long_sums(const kiln_shape *s, kiln_why *why)
{
    return kiln_shape_sums_long(s) &&
           kiln_no(why,
                   "sums of %lld products of bytes may leave 32 bits; naive adds them in 64 bits, "
                   "and an i32 result may wrap around",
                   (long long)kiln_shape_terms(s));
}

/* Asks the solver, and what each would have to ask. */
static bool rejects(const kiln_solver *solver, const kiln_shape *s, const kiln_device_facts *d,
                    kiln_why *why)
{
    return lacks_type(solver, s, why) || lacks_images(s, why) ||
           solver->reject(solver, s, d, why) ||
           (!solver->sums_long && kiln_reject_long_sums(s, why));
}

/* Makes layouts plain until the solver takes the shape, of the sets of tensors that serve the one
 * whose reformats take the least time. */
static bool stage_least(const kiln_solver *solver, kiln_shape *s, const kiln_device_facts *d)
{
    enum { ALL = 1 << KILN_ROLE_X | 1 << KILN_ROLE_W | 1 << KILN_ROLE_Y };
    const kiln_shape given = *s;
    double least = INFINITY;
    for (int roles = 1; roles <= ALL; roles++) {
        kiln_why why;
        const kiln_shape staged = kiln_staged_shape(&given, roles);
        const double ms = kiln_staging_ms(&staged, d);
        if (kiln_staged_roles(&staged) != roles || ms >= least || rejects(solver, &staged, d, &why))
            continue;
        least = ms;
        *s = staged;
    }
    return least < INFINITY;
}

bool kiln_solver_takes(const kiln_solver *solver, const kiln_shape *s, const kiln_device_facts *d,
                       kiln_shape *own, kiln_why *why)
{
    *own = *s;
    if (solver->prefer)
        solver->prefer(solver, own, d);
    kiln_prefer_layout(own->x_layout, kiln_plain_data_layout(s->rank));
    kiln_prefer_layout(own->w_layout, kiln_plain_filter_layout(s->rank));
    kiln_prefer_layout(own->y_layout, kiln_plain_data_layout(s->rank));
    kiln_prefer_layout(own->bias_layout, kiln_plain_bias_layout);
    if (!rejects(solver, own, d, why))
        return kiln_stage_bias(own, solver->reads_argument_image, why);
    if (own->native_layout || !stage_least(solver, own, d))
        return false;
    return kiln_stage_bias(own, solver->reads_argument_image, why);
}

bool kiln_reject_but_cpu(const kiln_device_facts *d, kiln_why *why)
{
    return d->kind != KILN_DEVICE_CPU &&
           kiln_no(why,
                   "it is shaped for a CPU, where one item has a core and its vectors to itself");
}

double kiln_solver_predict(const kiln_solver *solver, const kiln_shape *s,
                           const kiln_device_facts *d, const kiln_config *c)
{
    return solver->predict(solver, s, d, c) + kiln_staging_ms(s, d);
}

static bool listed(const kiln_param *param, int value)
{
    if (param->max > param->min && value >= param->min && value <= param->max)
        return true;
    for (int i = 0; i < param->nvalues; i++)
        if (param->value[i] == value)
            return true;
    return false;
}

static bool varies(const kiln_solver *solver, const kiln_shape *s, const kiln_config *c)
{
    return solver->varies && solver->varies(solver, s, c);
}

bool kiln_tensors_exceed(const kiln_shape *s, const kiln_device_facts *d, double share)
{
    double bytes = (double)(s->x_count + s->y_count) * (double)kiln_type_size(s->x_type);
    return d->kind == KILN_DEVICE_CPU && d->cache > 0 && bytes > share * (double)d->cache;
}

bool kiln_better_streamed(const kiln_shape *s, const kiln_device_facts *d)
{
    return kiln_shape_out_type(s) == KILN_F32 && kiln_tensors_exceed(s, d, d->cpu->fit.held);
}

bool kiln_better_fetched(const kiln_shape *s, const kiln_device_facts *d)
{
    return kiln_tensors_exceed(s, d, 0.1);
}

void kiln_define_params(kiln_plan *plan, const kiln_param *params, int nparams,
                        const kiln_config *c)
{
    for (int i = 0; i < nparams; i++)
        kiln_define(plan, params[i].name, c->v[i]);
}

/* "1, 2, 4", or "1 to 256". */
static void write_values(const kiln_param *param, char *text, size_t size)
{
    size_t used = 0;
    if (param->max > param->min)
        snprintf(text, size, "%d to %d", param->min, param->max);
    else
        for (int i = 0; i < param->nvalues && used < size; i++)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%d", i ? ", " : "", param->value[i]);
}

bool kiln_config_unlisted(const kiln_solver *solver, const kiln_config *c, kiln_why *why)
{
    char values[KILN_ERROR_TEXT / 2];
    for (int i = 0; i < solver->nparams; i++) {
        if (listed(&solver->params[i], c->v[i]))
            continue;
        write_values(&solver->params[i], values, sizeof values);
        return kiln_no(why, "%s is %d; %s takes %s", solver->params[i].name, c->v[i], solver->name,
                       values);
    }
    return false;
}

bool kiln_config_refused(const kiln_solver *solver, const kiln_shape *s, const kiln_device_facts *d,
                         const kiln_config *c, bool forced, kiln_why *why)
{
    if (rejects(solver, s, d, why) || kiln_config_unlisted(solver, c, why) ||
        solver->illegal(solver, s, d, c, why))
        return true;
    bool strict = s->determinism == KILN_DETERMINISTIC ||
                  (s->determinism == KILN_DETERMINISM_DEFAULT && !forced);
    if (strict && varies(solver, s, c))
        return kiln_no(why, "the config adds floats in no fixed order, so its result may vary "
                            "between runs, and the problem asks for a deterministic one");
    return false;
}

size_t kiln_config_text(const kiln_solver *solver, const kiln_config *c, char *text, size_t size)
{
    size_t used = 0;
    if (size)
        text[0] = '\0';
    for (int i = 0; i < solver->nparams; i++) {
        int n = snprintf(used < size ? text + used : NULL, used < size ? size - used : 0, "%s%d",
                         i ? "," : "", c->v[i]);
        used += (size_t)n;
    }
    return used;
}

static int param_named(const kiln_solver *solver, const char *name, size_t length)
{
    for (int i = 0; i < solver->nparams; i++)
        if (strlen(solver->params[i].name) == length &&
            memcmp(solver->params[i].name, name, length) == 0)
            return i;
    return -1;
}

bool kiln_config_parse(const kiln_solver *solver, const char *text, kiln_config *c, kiln_why *why)
{
    kiln_config parsed = *c;
    int position = 0;
    bool named = false;
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ",");
        const char *equals = memchr(at, '=', length), *digits = at;
        int which = position++;
        if (equals) {
            named = true;
            which = param_named(solver, at, (size_t)(equals - at));
            if (which < 0)
                return !kiln_no(why, "solver %s has no parameter \"%.*s\"", solver->name,
                                (int)(equals - at), at);
            digits = equals + 1;
        }
        char *end;
        errno = 0;
        long value = strtol(digits, &end, 10);
        if (end == digits || end != at + length || errno || value < INT32_MIN || value > INT32_MAX)
            return !kiln_no(why, "\"%.*s\" in the config is not a whole number", (int)length, at);
        if (which >= solver->nparams)
            return !kiln_no(why, "the config \"%.80s\" has more than the %d values of solver %s",
                            text, solver->nparams, solver->name);
        parsed.v[which] = (int)value;
        at += length + (at[length] == ',');
    }
    if (!named && position != solver->nparams)
        return !kiln_no(why, "the config \"%.80s\" has %d values; solver %s takes %d", text,
                        position, solver->name, solver->nparams);
    *c = parsed;
    return true;
}

bool kiln_config_next(const kiln_solver *solver, const kiln_shape *s, const kiln_device_facts *d,
                      int64_t *position, kiln_config *c)
{
    kiln_why why;
    if (rejects(solver, s, d, &why))
        return false;
    int64_t all = 1;
    for (int i = 0; i < solver->nparams; i++)
        all *= solver->params[i].nvalues;
    while (*position < all) {
        int64_t rest = (*position)++;
        memset(c, 0, sizeof *c);
        for (int i = solver->nparams - 1; i >= 0; i--) {
            c->v[i] = solver->params[i].value[rest % solver->params[i].nvalues];
            rest /= solver->params[i].nvalues;
        }
        /* Most configs fail a rule. */
        if (!solver->illegal(solver, s, d, c, NULL) &&
            !(solver->skip && solver->skip(solver, s, d, c)) &&
            !kiln_config_refused(solver, s, d, c, false, &why))
            return true;
    }
    return false;
}

static bool fits_memory(const kiln_plan *plan, const kiln_shape *s, const kiln_device_facts *d,
                        kiln_why *why)
{
    int64_t all = plan->workspace_bytes + plan->packed_bytes + plan->image_bytes;
    int64_t workspace = kiln_plan_workspace(plan, false), quarter = d->global_memory / 4;
    if (s->workspace_limit && all > s->workspace_limit)
        return !kiln_no_room(why, "%lld bytes of workspace exceed the problem's limit of %lld",
                             (long long)all, (long long)s->workspace_limit);
    if (!s->workspace_limit && quarter && all > quarter)
        return !kiln_no_room(why,
                             "%lld bytes of workspace exceed a quarter of the device's memory, "
                             "%lld; a workspace limit of the problem's may be larger",
                             (long long)all, (long long)quarter);
    if (workspace > d->max_alloc)
        return !kiln_no(why, "%lld bytes of workspace exceed the device's largest buffer, %lld",
                        (long long)workspace, (long long)d->max_alloc);
    return true;
}

static bool fit_images(const kiln_plan *plan, const kiln_device_facts *d, kiln_why *why)
{
    for (int role = 0; role < KILN_ROLE_TEMP + plan->ntemps; role++) {
        const kiln_image image = kiln_plan_image(plan, role);
        if (image.width > d->image_width || image.height > d->image_height)
            return !kiln_no(why,
                            "an image of %lld x %lld pixels exceeds the device's limit of "
                            "%lld x %lld",
                            (long long)image.width, (long long)image.height,
                            (long long)d->image_width, (long long)d->image_height);
        if (image.width && kiln_image_bytes(&image) > d->max_alloc)
            return !kiln_no(why,
                            "an image of %lld bytes exceeds the device's largest allocation, %lld",
                            (long long)kiln_image_bytes(&image), (long long)d->max_alloc);
    }
    return true;
}

bool kiln_solver_plan(const kiln_solver *solver, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c, kiln_plan *plan, kiln_why *why)
{
    if (!kiln_staged_emit(solver, s, d, c, plan, why->text))
        return false;
    if (plan->broken || plan->nstages == 0)
        return !kiln_no(why, "solver %s could not express its plan", solver->name);
    if (*plan->refusal.text)
        return !kiln_no(why, "%s", plan->refusal.text);
    plan->deterministic = !varies(solver, s, c);
    kiln_plan_finish(plan, s, d);
    return fits_memory(plan, s, d, why) && fit_images(plan, d, why);
}
