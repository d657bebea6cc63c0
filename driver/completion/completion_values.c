/* Lists values: layouts, types, activations, solvers, devices, and choices that a row names. */
#include "completion_values.h"

#include "driver/base/session.h"
#include "driver/conv/request.h"

#include "kiln_device.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static void layouts(completion_offer *offer, void *user)
{
    const kiln_layout_entry *e;
    for (int i = 0; (e = kiln_layout_at(i)); i++)
        offer(user, e->name, e->note);
}

/* A flag takes NAME or "any". */
static void layouts_or_any(completion_offer *offer, void *user)
{
    offer(user, "any", "kiln chooses");
    layouts(offer, user);
}

static void types(completion_offer *offer, void *user)
{
    for (int t = KILN_F32; t < KILN_TYPES; t++)
        offer(user, kiln_type_name((kiln_type)t), "");
}

static void activations(completion_offer *offer, void *user)
{
    for (int a = KILN_IDENTITY; a < KILN_ACTIVATIONS; a++)
        offer(user, kiln_activation_name((kiln_activation)a), "");
}

void completion_type_words(completion_offer *offer, void *user)
{
    for (int t = KILN_F32; t < KILN_TYPES; t++) {
        const char *word = request_word_of((kiln_type)t);
        if (word)
            offer(user, word, kiln_type_name((kiln_type)t));
    }
}

/* Any problem names all solvers, without a device. */
static void solvers(completion_offer *offer, void *user)
{
    session s;
    kiln_problem p;
    kiln_verdict v;
    char why[KILN_ERROR_TEXT], id[24];
    session_quiet();
    if (kiln_problem_parse(&p, "fwd-f32-n1-c1-k1-i1x1-f1x1", why) || session_open_dry(&s, why))
        return;
    for (int i = 0; kiln_explain(s.kiln, &p, i, &v) == KILN_OK; i++) {
        snprintf(id, sizeof id, "%d", v.solver_id);
        offer(user, v.solver, id);
    }
    session_close(&s);
}

static void devices(completion_offer *offer, void *user)
{
    kiln_device_entry entry[DEVICE_MOST];
    size_t count;
    char spec[DEVICE_SPEC];
    if (kiln_device_list(entry, DEVICE_MOST, &count) != KILN_OK)
        return;
    offer(user, "cpu", "a CPU");
    offer(user, "gpu", "the largest GPU");
    for (size_t i = 0; i < count && i < DEVICE_MOST; i++) {
        snprintf(spec, sizeof spec, "%d:%d", entry[i].platform, entry[i].index);
        offer(user, spec, entry[i].name);
    }
}

/* Which list has the values of a flag, or of a value's name in the help. */
static const struct {
    const char *name;
    void (*list)(completion_offer *offer, void *user);
} lists[] = {
    {"WORD", completion_type_words},
    {"LAYOUT", layouts},
    {"TYPE", types},
    {"DEVICE", devices},
    {"in_layout", layouts_or_any},
    {"fil_layout", layouts_or_any},
    {"out_layout", layouts_or_any},
    {"bias_layout", layouts_or_any},
    {"activation", activations},
    {"solution", solvers},
    {"solvers", solvers},
    {"type", types},
    {"to-type", types},
    {"types", types},
    {"device", devices},
};

/* Offers the parts of "conv|trans" that stand for themselves, as NAME and FILE do not. */
static void choices(const char *what, completion_offer *offer, void *user)
{
    char part[64];
    if (!strchr(what, '|'))
        return;
    for (size_t n; *what; what += n + (what[n] == '|')) {
        n = strcspn(what, "|");
        snprintf(part, sizeof part, "%.*s", (int)n, what);
        if (*part && !isupper((unsigned char)*part))
            offer(user, part, "");
    }
}

void completion_values(const completion_row *row, completion_offer *offer, void *user)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strcmp(lists[i].name, row->what) == 0 ||
            (row->flag && strcmp(lists[i].name, row->name) == 0)) {
            lists[i].list(offer, user);
            return;
        }
    choices(row->what, offer, user);
}
