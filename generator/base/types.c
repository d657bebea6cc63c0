/* The rows of types.def, and the questions that are asked of them. */
#include "types.h"

#include <string.h>

static const kiln_type_row rows[KILN_TYPES] = {
    [KILN_TYPE_DEFAULT] = {.name = "default", .size = 4},
#define TO(id) 1u << KILN_##id
#define TYPE(id, ...) [KILN_##id] = {.kernel = "TYPE_" #id, __VA_ARGS__},
#include "types.def"
#undef TYPE
#undef TO
};

static const kiln_type_row none = {.name = "?"};

const kiln_type_row *kiln_type_facts(kiln_type type)
{
    return (unsigned)type < KILN_TYPES ? &rows[type] : &none;
}

bool kiln_type_is_known(int64_t type)
{
    return type > KILN_TYPE_DEFAULT && type < KILN_TYPES;
}

const char *kiln_type_name(kiln_type type)
{
    return kiln_type_facts(type)->name;
}

bool kiln_type_named(const char *name, kiln_type *type)
{
    for (int t = KILN_TYPE_DEFAULT + 1; name && type && t < KILN_TYPES; t++)
        if (strcmp(name, rows[t].name) == 0) {
            *type = (kiln_type)t;
            return true;
        }
    return false;
}

size_t kiln_type_size(kiln_type type)
{
    return kiln_type_facts(type)->size;
}

bool kiln_type_is_integer(kiln_type type)
{
    return kiln_type_facts(type)->integer;
}

bool kiln_type_is_float(kiln_type type)
{
    return kiln_type_facts(type)->fraction > 0;
}

int kiln_type_fraction_bits(kiln_type type)
{
    return kiln_type_facts(type)->fraction;
}

int kiln_type_exponent_bits(kiln_type type)
{
    return kiln_type_facts(type)->exponent;
}

uint32_t kiln_type_poison(kiln_type type)
{
    return kiln_type_facts(type)->poison;
}

bool kiln_type_gives(kiln_type from, kiln_type to)
{
    return kiln_type_facts(from)->results >> to & 1;
}

bool kiln_type_gives_forward(kiln_type from, kiln_type to)
{
    const kiln_type_row *row = kiln_type_facts(from);
    return (row->results | row->forward) >> to & 1;
}

bool kiln_type_takes_weights(kiln_type x, kiln_type w)
{
    const kiln_type_row *row = kiln_type_facts(x);
    return w == KILN_U8 ? false : x == w || (row->weights >> w & 1);
}
