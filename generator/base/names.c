/* The names of types, directions and activations, and the layouts that text leaves out. */
#include "names.h"

const char *kiln_plain_data_layout(int rank)
{
    static const char *const names[] = {"NCW", "NCHW", "NCDHW"};
    return names[rank - 1];
}

const char *kiln_plain_filter_layout(int rank)
{
    static const char *const names[] = {"OIW", "OIHW", "OIDHW"};
    return names[rank - 1];
}

const char kiln_plain_bias_layout[] = "W";

const char *kiln_type_name(kiln_type type)
{
    static const char *const names[] = {"default", "f32", "f16", "bf16", "i8", "i32"};
    return (unsigned)type < sizeof names / sizeof *names ? names[type] : "?";
}

size_t kiln_type_size(kiln_type type)
{
    static const size_t sizes[] = {4, 4, 2, 2, 1, 4};
    return (unsigned)type < sizeof sizes / sizeof *sizes ? sizes[type] : 0;
}

const char *kiln_direction_name(kiln_direction direction)
{
    static const char *const names[] = {"fwd", "bwd", "wrw"};
    return (unsigned)direction < 3 ? names[direction] : "?";
}

const char *kiln_activation_name(kiln_activation activation)
{
    static const char *const names[] = {"identity", "relu",    "clipped_relu", "leaky_relu", "elu",
                                        "tanh",     "sigmoid", "silu",         "gelu"};
    return (unsigned)activation < sizeof names / sizeof *names ? names[activation] : NULL;
}
