/* Answers about a problem: sizes and element counts. */
#include "problem_text.h"

int64_t kiln_problem_output(const kiln_problem *p, int i)
{
    int64_t reach = (p->filter[i] - 1) * p->dilation[i] + 1;
    int64_t pads = p->pad_begin[i] + p->pad_end[i];
    if (p->transposed)
        return p->stride[i] * (p->input[i] - 1) + reach - pads + p->output_pad[i];
    return (p->input[i] + pads - reach) / p->stride[i] + 1;
}

/* Returns the elements of a tensor, or -1 on overflow. */
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
