/* Finds the row of a CPU. */
#include "core.h"

#include <stddef.h>
#include <string.h>

/* A row begins with the numbers of BASE and overrides some. */
#pragma GCC diagnostic push
#ifdef __clang__
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif
static const kiln_core cores[] = {
#include "cores.def"
};
#pragma GCC diagnostic pop

enum { CORES = sizeof cores / sizeof *cores };

const kiln_core *kiln_core_at(int index)
{
    return index >= 0 && index < CORES ? &cores[index] : NULL;
}

const kiln_core *kiln_core_named(const char *name)
{
    for (int i = 0; i < CORES; i++)
        if (strcmp(cores[i].name, name) == 0)
            return &cores[i];
    return NULL;
}

static bool has_ranges(const kiln_core *core)
{
    return core->models[0].last > 0;
}

bool kiln_core_is(const kiln_core *core, const kiln_core_id *id, bool ranged)
{
    if (!core->vendor || strcmp(core->vendor, id->vendor) != 0 || core->family != id->family ||
        core->vector_floats != id->vector_floats || has_ranges(core) != ranged)
        return false;
    bool within = !ranged;
    for (int i = 0; i < KILN_CORE_RANGES && core->models[i].last > 0; i++)
        within =
            within || (id->model >= core->models[i].first && id->model <= core->models[i].last);
    return within;
}

const kiln_core *kiln_core_of(const kiln_core_id *id)
{
    for (int pass = 0; id && pass < 2; pass++)
        for (int i = 0; i < CORES; i++)
            if (kiln_core_is(&cores[i], id, pass == 0))
                return &cores[i];
    return kiln_core_named("generic");
}
