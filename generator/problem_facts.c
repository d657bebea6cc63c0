/* What can be asked of a problem: sizes, element counts, names of its enums. */
#include "problem_text.h"

int64_t kiln_problem_output(const kiln_problem *p, int i)
{
    int64_t reach = (p->filter[i] - 1) * p->dilation[i] + 1;
    int64_t pads = p->pad_begin[i] + p->pad_end[i];
    if (p->transposed)
        return p->stride[i] * (p->input[i] - 1) + reach - pads + p->output_pad[i];
    return (p->input[i] + pads - reach) / p->stride[i] + 1;
}

/* Elements of a tensor, or -1 on overflow. */
static int64_t product(int64_t a, int64_t b, const int64_t *spatial, int rank)
{
    int64_t n;
    if (__builtin_mul_overflow(a, b, &n))
        return -1;
    for (int i = 0; i < rank; i++)
        if (__builtin_mul_overflow(n, spatial[i], &n))
            return -1;
    return n;
}

int64_t kiln_problem_count(const kiln_problem *p, char tensor)
{
    int64_t out[KILN_MAX_RANK];
    switch (tensor) {
    case 'x':
        return product(p->batch, p->in_channels, p->input, p->spatial_rank);
    case 'w':
        return p->transposed ? product(p->in_channels, p->out_channels / p->groups, p->filter,
                                       p->spatial_rank)
                             : product(p->out_channels, p->in_channels / p->groups, p->filter,
                                       p->spatial_rank);
    default:
        for (int i = 0; i < p->spatial_rank; i++)
            out[i] = kiln_problem_output(p, i);
        return product(p->batch, p->out_channels, out, p->spatial_rank);
    }
}

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
