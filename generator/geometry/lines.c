/* Computes the lines that the direct solver reads, and adds the stage that lays them out. */
#include "lines.h"

#include "generator/base/integers.h"
#include "generator/plan/shared_grid.h"

enum {
    WIDEST = 16,   /* the largest T_VEC */
    CPU_ITEM = 512 /* positions of an item on a CPU: fewer are not worth a work-group */
};

static int64_t at_least(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Returns how many zero positions the end of one row and the start of the next have in common. */
static int64_t shared_border(const kiln_lines *l, const kiln_shape *s, int a)
{
    int64_t total = l->grid[a] + l->reach[a], shared = total;
    for (int64_t slot = 0; slot < l->slots[a]; slot++) {
        /* Position v holds element step * v - first: those below 0 and beyond the source are
         * border. */
        int64_t first = l->lead[a] - slot * s->dilation[a] % s->stride[a];
        int64_t end = l->source[a] + first;
        int64_t left = first > 0 ? divide_up(first, l->step[a]) : 0;
        int64_t right = end > 0 ? total - divide_up(end, l->step[a]) : total;
        shared = at_most(shared, at_most(left, at_least(right, 0)));
    }
    return shared;
}

/* Returns how many positions at the start of a row are zero in every slot. */
static int64_t border_before(const kiln_lines *l, const kiln_shape *s, int a)
{
    int64_t zeros = l->line[a];
    for (int64_t slot = 0; slot < l->slots[a]; slot++) {
        const int64_t first = l->lead[a] - slot * s->dilation[a] % s->stride[a];
        zeros = at_most(zeros, first > 0 ? divide_up(first, l->step[a]) : 0);
    }
    return zeros;
}

static void set_axis(kiln_lines *l, const kiln_shape *s, int a)
{
    bool backward = s->direction == KILN_BACKWARD_DATA;
    int64_t stride = s->stride[a];
    l->period[a] = stride / gcd(stride, s->dilation[a]);
    l->reach[a] = (s->filter[a] - 1) * s->dilation[a] / stride;
    if (backward) {
        int64_t first = s->pad[a] / stride;
        l->source[a] = s->out[a];
        l->grid[a] = (s->pad[a] + s->in[a] - 1) / stride - first + 1;
        l->step[a] = 1;
        l->slots[a] = 1;
        l->lead[a] = l->reach[a] - first;
    } else {
        l->source[a] = s->in[a];
        l->grid[a] = s->out[a];
        l->step[a] = stride;
        l->slots[a] = at_most(s->filter[a], l->period[a]);
        l->lead[a] = s->pad[a];
    }
    int64_t total = l->grid[a] + l->reach[a];
    l->line[a] = at_least(l->grid[a], total - shared_border(l, s, a));
}

kiln_lines kiln_lines_of(const kiln_shape *s)
{
    bool backward = s->direction == KILN_BACKWARD_DATA;
    kiln_lines l = {.n = s->n, .channels = backward ? s->k : s->c, .phases = 1};
    for (int a = 0; a < 3; a++) {
        set_axis(&l, s, a);
        if (backward)
            l.phases *= s->stride[a];
    }
    int64_t plane = l.line[1] * l.line[2];
    l.positions =
        ((l.n - 1) * l.line[0] + l.grid[0] - 1) * plane + (l.grid[1] - 1) * l.line[2] + l.grid[2];
    l.rows = l.n * l.line[0] * l.line[1];
    l.offset = l.reach[0] * plane + l.reach[1] * l.line[2] + l.reach[2];
    /* Backward weights sums up whole vectors: dy must be zero to the end of the last one, and x may
     * not hold another channel's element there, because zero times infinity is NaN. */
    if (s->direction == KILN_BACKWARD_WEIGHTS) {
        const int64_t last = l.positions + WIDEST - 1;
        const int64_t zeros = border_before(&l, s, 0) * plane +
                              border_before(&l, s, 1) * l.line[2] + border_before(&l, s, 2);
        l.rows = at_least(l.rows, divide_up(at_least(last, last + l.offset - zeros), l.line[2]));
    }
    /* Channels a multiple of 1 KiB apart would crowd into few sets of a CPU's first cache. */
    if (l.rows * l.line[2] % 256 == 0)
        l.rows++;
    l.channel = l.rows * l.line[2];
    return l;
}

kiln_lines kiln_lines_of_dy(const kiln_shape *s, const kiln_lines *x)
{
    kiln_lines l = *x;
    l.channels = s->k;
    l.offset = 0;
    for (int a = 0; a < 3; a++) {
        l.source[a] = s->out[a];
        l.step[a] = l.slots[a] = 1;
        l.lead[a] = l.reach[a] = 0;
    }
    return l;
}

bool kiln_lines_too_large(const kiln_shape *s, kiln_why *why)
{
    const kiln_lines l = kiln_lines_of(s);
    for (int a = 0; a < 3; a++) {
        const int64_t span = s->in[a] + s->pad[a] + s->pad_end[a] + s->stride[a] + s->dilation[a];
        if (span > INT32_MAX)
            return kiln_no(why, "an axis with its padding has 2^31 elements or more");
    }
    if (l.line[0] * l.line[1] * l.line[2] > INT32_MAX / 2)
        return kiln_no(why, "one padded image has 2^30 elements or more");
    return false;
}

void kiln_lines_define(const kiln_lines *l, kiln_plan *plan)
{
    kiln_define_axes(plan, "D_GRID", l->grid);
    kiln_define_axes(plan, "D_REACH", l->reach);
    kiln_define_axes(plan, "D_STEP", l->step);
    kiln_define_axes(plan, "D_LEAD", l->lead);
    kiln_define_axes(plan, "D_SLOTS", l->slots);
    kiln_define_axes(plan, "D_PERIOD", l->period);
}

static int64_t all_rows(const kiln_lines *l, int64_t span)
{
    int64_t lines = l->slots[0] * l->slots[1] * l->slots[2] * l->channels;
    int64_t last = (lines - 1) * l->channel + divide_up(l->positions, span) * span + l->offset;
    return at_least(lines * l->rows, divide_up(last, l->line[2]));
}

int64_t kiln_lines_count(const kiln_lines *l, int64_t span)
{
    return all_rows(l, span) * l->line[2];
}

double kiln_lines_ms(const kiln_lines *l, kiln_type type, const kiln_device_facts *d, int64_t span)
{
    const int64_t source = l->n * l->channels * l->source[0] * l->source[1] * l->source[2];
    const double bytes =
        (double)kiln_type_size(type) * (double)(source + kiln_lines_count(l, span));
    /* Lines go from core to core, so that caches are no faster than memory. A row takes a core 10
     * ns, as measured. */
    const double rows = d->kind == KILN_DEVICE_CPU ? (double)all_rows(l, span) : 0;
    return bytes / (kiln_device_memory_gbs(d) * 1e6) + 1e-5 * rows / d->compute_units;
}

int kiln_lines_emit(const kiln_lines *l, const kiln_shape *s, const kiln_device_facts *d,
                    int64_t span, int role, kiln_plan *plan)
{
    int64_t rows = all_rows(l, span), count = rows * l->line[2];
    kiln_type type = role == KILN_ROLE_X ? s->x_type : s->y_type;
    int temp = kiln_plan_temp(plan, count * (int64_t)kiln_type_size(type));
    kiln_plan_stage(plan, "direct_lines.cl", "lay_out");
    kiln_define_types(plan, s);
    if (!s->wide && count > INT32_MAX)
        kiln_define(plan, "P_WIDE", 1);
    kiln_define(plan, "P_N", l->n);
    kiln_define(plan, "D_CHANNELS", l->channels);
    kiln_define_axes(plan, "P_SRC", l->source);
    kiln_define_axes(plan, "P_STRIDE", s->stride);
    kiln_define_axes(plan, "P_DILATION", s->dilation);
    kiln_define_axes(plan, "D_LINE", l->line);
    kiln_define_axes(plan, "D_STEP", l->step);
    kiln_define_axes(plan, "D_LEAD", l->lead);
    kiln_define_axes(plan, "D_SLOTS", l->slots);
    kiln_define(plan, "D_ROWS", l->rows);
    kiln_define(plan, "D_ALL_ROWS", rows);
    kiln_arg_buffer(plan, role);
    kiln_arg_buffer(plan, temp);
    /* A GPU reads best with neighbouring items on neighbouring elements; a CPU runs items one after
     * the other and wants few. */
    const bool gpu = d->kind == KILN_DEVICE_GPU;
    const int64_t wide = gpu ? 1 : CPU_ITEM, tall = gpu ? 1 : divide_up(CPU_ITEM, l->line[2]);
    const int64_t across = divide_up(l->line[2], wide), items = divide_up(rows, tall);
    kiln_define(plan, "D_SPAN", wide);
    kiln_define(plan, "D_HIGH", tall);
    if (!gpu) {
        kiln_grid_shared(plan, d, kiln_lines_ms(l, type, d, span) + kiln_device_launch_ms(d),
                         across, items, 1);
        return temp;
    }
    const int64_t group = kiln_device_group(d, 64);
    int64_t local = 1;
    while (2 * local <= 32 && 2 * local <= group && local < across)
        local *= 2;
    const int64_t high = group / local < d->max_local[1] ? group / local : d->max_local[1];
    kiln_grid(plan, local, high, 1, across, items, 1);
    return temp;
}
