/* Turns a problem into contractions: strides, taps and phases. */
#include "index_space.h"

#include <string.h>

/* Spatial axes are D, H, W; an axis that the problem lacks is 1 wide. */
static index_space_tensor tensor_of(const void *data, kiln_type type, int64_t channels,
                                    const int64_t *size, int rank)
{
    index_space_tensor t = {.data = data, .type = type, .channels = channels, .plane = 1};
    for (int a = 2; a >= 0; a--) {
        t.size[a] = a >= 3 - rank ? size[a - (3 - rank)] : 1;
        t.step[a] = t.plane;
        t.plane *= t.size[a];
    }
    return t;
}

index_space index_space_of(const kiln_problem *p, const reference_tensors *t)
{
    int rank = p->spatial_rank;
    int64_t output[KILN_MAX_RANK] = {1, 1, 1};
    for (int i = 0; i < rank; i++)
        output[i] = kiln_problem_output(p, i);
    index_space_tensor x = tensor_of(t->x_wide ? t->x_wide : t->x, t->x_wide ? KILN_F32 : p->x_type,
                                     p->in_channels, p->input, rank);
    index_space_tensor y = tensor_of(t->y, p->y_type, p->out_channels, output, rank);
    static const index_space_part plain[] = {[KILN_FORWARD] = INDEX_SPACE_COARSE,
                                             [KILN_BACKWARD_DATA] = INDEX_SPACE_FINE,
                                             [KILN_BACKWARD_WEIGHTS] = INDEX_SPACE_FILTER};
    static const index_space_part transposed[] = {[KILN_FORWARD] = INDEX_SPACE_FINE,
                                                  [KILN_BACKWARD_DATA] = INDEX_SPACE_COARSE,
                                                  [KILN_BACKWARD_WEIGHTS] = INDEX_SPACE_FILTER};
    index_space s = {
        .coarse = p->transposed ? x : y,
        .fine = p->transposed ? y : x,
        .written = (p->transposed ? transposed : plain)[p->direction],
        .batch = p->batch,
        .groups = p->groups,
    };
    s.filter = tensor_of(t->w_wide ? t->w_wide : t->w, t->w_wide ? KILN_F32 : p->w_type,
                         s.fine.channels / s.groups, p->filter, rank);
    for (int a = 0; a < 3; a++) {
        int i = a - (3 - rank);
        s.stride[a] = i < 0 ? 1 : p->stride[i];
        s.dilation[a] = i < 0 ? 1 : p->dilation[i];
        s.pad[a] = i < 0 ? 0 : p->pad_begin[i];
    }
    return s;
}

/* ---- the three contractions ---- */

/* The points of the coarse grid; the position of each is where its filter stands in the fine grid.
 */
static contraction_space coarse_points(const index_space *s)
{
    contraction_space space = {
        .outer = s->batch,
        .outer_grid = s->fine.channels * s->fine.plane,
        .outer_linear = s->coarse.channels * s->coarse.plane,
    };
    for (int a = 0; a < 3; a++) {
        space.count[a] = s->coarse.size[a];
        space.first[a] = -s->pad[a];
        space.step[a] = s->stride[a];
        space.linear[a] = s->coarse.step[a];
    }
    return space;
}

/* The filter's fine channels and taps; the position of each is a distance in the fine grid. */
static contraction_space filter_taps(const index_space *s)
{
    contraction_space space = {
        .outer = s->filter.channels,
        .outer_grid = s->fine.plane,
        .outer_linear = s->filter.plane,
    };
    for (int a = 0; a < 3; a++) {
        space.count[a] = s->filter.size[a];
        space.step[a] = s->dilation[a];
        space.linear[a] = s->filter.step[a];
    }
    return space;
}

static void set_grid(contraction *c, const index_space_tensor *grid, const index_space *s)
{
    c->type = grid->type;
    c->grid = grid->data;
    c->grid_group = grid->channels / s->groups * grid->plane;
    memcpy(c->box, grid->size, sizeof c->box);
    memcpy(c->box_step, grid->step, sizeof c->box_step);
}

contraction index_space_writes_coarse(const index_space *s)
{
    contraction c = {
        .matrix = s->filter.data,
        .groups = s->groups,
        .rows = s->coarse.channels / s->groups,
        .matrix_row = s->filter.channels * s->filter.plane,
        .dst_row = s->coarse.plane,
        .columns = coarse_points(s),
        .sums = filter_taps(s),
    };
    c.matrix_group = c.rows * c.matrix_row;
    c.dst_group = c.rows * c.dst_row;
    set_grid(&c, &s->fine, s);
    return c;
}

contraction index_space_writes_filter(const index_space *s)
{
    contraction c = {
        .matrix = s->coarse.data,
        .groups = s->groups,
        .rows = s->coarse.channels / s->groups,
        .matrix_row = s->coarse.plane,
        .dst_row = s->filter.channels * s->filter.plane,
        .columns = filter_taps(s),
        .sums = coarse_points(s),
    };
    c.matrix_group = c.rows * c.matrix_row;
    c.dst_group = c.rows * c.dst_row;
    set_grid(&c, &s->fine, s);
    return c;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}

/* Along one axis, sets the fine points phase, phase + stride, ... and the taps that reach them from
 * a coarse point: coarse = (fine + pad - tap * dilation) / stride must be whole. If it is for one
 * tap, so it is for every stride / gcd(stride, dilation)-th after that. Returns the offset of the
 * first tap.
 */
static int64_t set_phase(const index_space *s, int a, int64_t phase, contraction *c)
{
    int64_t stride = s->stride[a], dilation = s->dilation[a], at = phase + s->pad[a];
    int64_t every = stride / common_divisor(stride, dilation), tap = 0;
    while (tap < every && tap < s->filter.size[a] && (at - tap * dilation) % stride)
        tap++;
    bool none = tap >= every || tap >= s->filter.size[a];
    c->columns.count[a] = (s->fine.size[a] - phase + stride - 1) / stride;
    c->columns.first[a] = none ? 0 : (at - tap * dilation) / stride;
    c->columns.step[a] = 1;
    c->columns.linear[a] = stride * s->fine.step[a];
    c->sums.count[a] = none ? 0 : (s->filter.size[a] - 1 - tap) / every + 1;
    c->sums.step[a] = -(every * dilation / stride);
    c->sums.linear[a] = every * s->filter.step[a];
    c->dst_first += phase * s->fine.step[a];
    return none ? 0 : tap * s->filter.step[a];
}

contraction index_space_writes_fine(const index_space *s, const int64_t phase[3])
{
    contraction c = {
        .matrix = s->filter.data,
        .groups = s->groups,
        .rows = s->filter.channels,
        .matrix_row = s->filter.plane,
        .dst_row = s->fine.plane,
        .columns = {.outer = s->batch,
                    .outer_grid = s->coarse.channels * s->coarse.plane,
                    .outer_linear = s->fine.channels * s->fine.plane},
        .sums = {.outer = s->coarse.channels / s->groups,
                 .outer_grid = s->coarse.plane,
                 .outer_linear = s->filter.channels * s->filter.plane},
    };
    c.matrix_group = c.sums.outer * c.sums.outer_linear;
    c.dst_group = c.rows * c.dst_row;
    set_grid(&c, &s->coarse, s);
    for (int a = 0; a < 3; a++)
        c.matrix_first += set_phase(s, a, phase[a], &c);
    return c;
}
