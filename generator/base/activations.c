/* The rows of activations.def, and the questions that are asked of them. */
#include "activations.h"

#include "refuse.h"

#include <string.h>

static const kiln_activation_row rows[KILN_ACTIVATIONS] = {
#define ACTIVATION(id, ...) [KILN_##id] = {__VA_ARGS__},
#include "activations.def"
#undef ACTIVATION
};

const kiln_activation_row *kiln_activation_facts(kiln_activation activation)
{
    return (unsigned)activation < KILN_ACTIVATIONS ? &rows[activation] : NULL;
}

kiln_status kiln_activation_check(kiln_activation activation, const float param[2], char *why)
{
    const kiln_activation_row *row = &rows[activation];
    if (row->positive && param[0] <= 0)
        return kiln_refuse(why, "the parameter a of %s is %g; it must be above 0", row->name,
                           (double)param[0]);
    if (row->ordered && param[0] >= param[1])
        return kiln_refuse(why, "the parameters a and b of %s are %g and %g; a must be below b",
                           row->name, (double)param[0], (double)param[1]);
    return KILN_OK;
}

const char *kiln_activation_name(kiln_activation activation)
{
    const kiln_activation_row *row = kiln_activation_facts(activation);
    return row ? row->name : NULL;
}

/* Whether a word is among words between spaces. */
static bool is_among(const char *word, const char *words)
{
    const size_t length = strlen(word);
    for (const char *at = words; at && *at; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == length && strncmp(at, word, length) == 0)
            return true;
    return false;
}

bool kiln_activation_named(const char *name, kiln_activation *activation)
{
    for (int a = 0; name && activation && a < KILN_ACTIVATIONS; a++)
        if (strcmp(name, rows[a].name) == 0 || is_among(name, rows[a].synonyms)) {
            *activation = (kiln_activation)a;
            return true;
        }
    return false;
}
