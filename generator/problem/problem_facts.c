/* Answers about a problem: whether it is checked, sizes and element counts. */
#include "generator/base/types.h"

#include "problem_epilogue.h"
#include "problem_quant.h"
#include "problem_text.h"

#include <string.h>

static bool is_layout(const char layout[KILN_LAYOUT_TEXT])
{
    return layout[0] && memchr(layout, 0, KILN_LAYOUT_TEXT);
}

static bool is_between(int64_t value, int64_t least, int64_t most)
{
    return value >= least && value <= most;
}

static bool is_axis(const kiln_problem *p, int i)
{
    return is_between(p->input[i], 1, kiln_far) && is_between(p->filter[i], 1, kiln_far) &&
           is_between(p->stride[i], 1, kiln_far) && is_between(p->dilation[i], 1, kiln_far) &&
           is_between(p->pad_begin[i], 0, kiln_far) && is_between(p->pad_end[i], 0, kiln_far) &&
           is_between(p->output_pad[i], 0, kiln_far);
}

bool kiln_problem_is_complete(const kiln_problem *p)
{
    if (!p || !is_between(p->spatial_rank, 1, KILN_MAX_RANK) ||
        !is_between(p->direction, 0, KILN_BACKWARD_WEIGHTS) || !kiln_type_is_known(p->x_type) ||
        !kiln_type_is_known(p->w_type) || !kiln_type_is_known(p->y_type) ||
        !is_layout(p->x_layout) || !is_layout(p->w_layout) || !is_layout(p->y_layout) ||
        !is_layout(p->bias_layout) || !kiln_bias_type_is_known(p->epilogue.bias) ||
        !kiln_quant_is_complete(p) || p->batch < 1 || p->in_channels < 1 || p->out_channels < 1 ||
        p->groups < 1 || !kiln_activation_name(p->epilogue.activation))
        return false;
    for (int i = 0; i < p->spatial_rank; i++)
        if (!is_axis(p, i))
            return false;
    return true;
}

int64_t kiln_problem_output(const kiln_problem *p, int i)
{
    int64_t reach, spread;
    if (!p || !is_between(p->spatial_rank, 1, KILN_MAX_RANK) ||
        !is_between(i, 0, p->spatial_rank - 1) || !is_axis(p, i) ||
        __builtin_mul_overflow(p->filter[i] - 1, p->dilation[i], &reach) ||
        __builtin_mul_overflow(p->input[i] - 1, p->stride[i], &spread) || reach > kiln_far * 2 ||
        (p->transposed && spread > kiln_far * 2))
        return 0;
    int64_t pads = p->pad_begin[i] + p->pad_end[i];
    int64_t out = p->transposed ? spread + reach + 1 - pads + p->output_pad[i]
                                : (p->input[i] + pads - (reach + 1)) / p->stride[i] + 1;
    return out;
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
    if (!kiln_problem_is_complete(p))
        return 0;
    switch (tensor) {
    case 'x':
        return product(p->batch, p->in_channels, p->input, p->spatial_rank);
    case 'w':
        return p->transposed ? product(p->in_channels, p->out_channels / p->groups, p->filter,
                                       p->spatial_rank)
                             : product(p->out_channels, p->in_channels / p->groups, p->filter,
                                       p->spatial_rank);
    case 'y':
        for (int i = 0; i < p->spatial_rank; i++)
            out[i] = kiln_problem_output(p, i);
        return product(p->batch, p->out_channels, out, p->spatial_rank);
    default:
        return 0;
    }
}
