/* The names of directions, and the layouts that text leaves out. */
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

const char *kiln_direction_name(kiln_direction direction)
{
    static const char *const names[] = {"fwd", "bwd", "wrw"};
    return (unsigned)direction < 3 ? names[direction] : "?";
}
