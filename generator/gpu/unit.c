/* Finds the row of a GPU. */
#include "unit.h"

#include <stddef.h>
#include <string.h>

/* A row begins with another row's numbers and overrides some. */
#pragma GCC diagnostic push
#ifdef __clang__
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif
static const kiln_gpu_unit units[] = {
#include "units.def"
};
#pragma GCC diagnostic pop

enum { UNITS = sizeof units / sizeof *units };

const kiln_gpu_unit *kiln_gpu_unit_at(int index)
{
    return index >= 0 && index < UNITS ? &units[index] : NULL;
}

const kiln_gpu_unit *kiln_gpu_unit_named(const char *name)
{
    for (int i = 0; i < UNITS; i++)
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

bool kiln_gpu_version_within(const kiln_gpu_versions *versions, int version)
{
    return versions->last > 0 && version >= versions->first && version <= versions->last;
}

bool kiln_gpu_gate_shut(const kiln_gpu_versions *gate, const kiln_gpu_id *id, const char *what,
                        kiln_why *why)
{
    const int first = gate->first, has = id->version;
    if (gate->last == 0)
        return kiln_no(why, "it needs %s; only NVIDIA's GPUs are asked for them", what);
    if (kiln_gpu_version_within(gate, has))
        return false;
    return kiln_no(
        why, "it needs %s; compute capability %d.%d %s has them, and the device has %d.%d", what,
        first / 100, first % 100, gate->last == first ? "alone" : "or more", has / 100, has % 100);
}

/* The row of the maker that names the version, or that names none. */
static const kiln_gpu_unit *row_of(kiln_gpu_maker maker, int version, bool named)
{
    for (int i = 0; i < UNITS; i++) {
        const bool fits = named ? kiln_gpu_version_within(&units[i].versions, version)
                                : units[i].versions.last == 0;
        if (units[i].maker == maker && fits)
            return &units[i];
    }
    return NULL;
}

const kiln_gpu_unit *kiln_gpu_unit_of(const kiln_gpu_id *id)
{
    const kiln_gpu_unit *unit = NULL;
    for (int named = 1; id && named >= 0 && !unit; named--)
        unit = row_of(id->maker, id->version, named);
    return unit ? unit : row_of(KILN_GPU_UNKNOWN, 0, false);
}
