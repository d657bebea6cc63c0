/* The geometry of the solver gemm: first what follows from a shape, then what follows from a
 * config. */
#include "gemm.h"

#include "generator/base/integers.h"

/* Sets along one axis where pixels and taps meet, and the phases of backward data. */
static void set_axis(kiln_gemm *g, const kiln_shape *s, int a)
{
    const kiln_tiles_walk *w = &g->walk;
    const int64_t stride = s->stride[a], dilation = s->dilation[a];
    if (!g->backward) {
        g->step[a] = stride;
        g->move[a] = dilation;
        g->jump[a] = g->phases[a] = 1;
        g->grid[a] = w->dst[a];
        return;
    }
    g->step[a] = 1;
    g->jump[a] = stride / gcd(stride, dilation);
    g->move[a] = -(g->jump[a] * dilation / stride);
    g->phases[a] = stride < w->dst[a] ? stride : w->dst[a];
    g->grid[a] = divide_up(w->dst[a], stride);
    g->skips_taps = g->skips_taps || stride > 1;
}

/* Returns whether the filter has one tap, so that with a stride one phase of backward data has
 * it and the others have none. */
static bool has_one_phase(const kiln_shape *s)
{
    for (int a = 0; a < 3; a++)
        if (s->filter[a] != 1 || s->pad[a] != 0)
            return false;
    return s->direction == KILN_BACKWARD_DATA;
}

static void count_pixels(kiln_gemm *g)
{
    g->all_phases = g->phases[0] * g->phases[1] * g->phases[2];
    g->pixels = g->images * g->grid[0] * g->grid[1] * g->grid[2];
}

kiln_gemm kiln_gemm_of(const kiln_shape *s)
{
    const bool backward = s->direction == KILN_BACKWARD_DATA;
    kiln_gemm g = {
        .backward = backward,
        .walk = {.src_c = (backward ? s->k : s->c) / s->g,
                 .dst_c = (backward ? s->c : s->k) / s->g},
        .groups = s->g,
        .images = s->n,
        .taps = s->filter[0] * s->filter[1] * s->filter[2],
        .src_pitch = kiln_pitch_of(s, backward ? 'y' : 'x'),
        .dst_pitch = kiln_pitch_of(s, backward ? 'x' : 'y'),
    };
    for (int a = 0; a < 3; a++) {
        g.walk.src[a] = backward ? s->out[a] : s->in[a];
        g.walk.dst[a] = backward ? s->in[a] : s->out[a];
        g.walk.filter[a] = s->filter[a];
        g.walk.pad[a] = s->pad[a];
        set_axis(&g, s, a);
    }
    count_pixels(&g);
    g.spread = g.all_phases > 1 && g.dst_pitch.pixel == 1 && has_one_phase(s);
    g.group_phases = g.spread ? 1 : g.all_phases;
    g.load = g.src_pitch.channel == 1 && g.walk.src_c % 4 == 0 ? GEMM_CHANNELS
             : kiln_shape_is_pointwise(s) && kiln_tiles_have_quads(&g.src_pitch, g.walk.src)
                 ? GEMM_PIXELS
                 : GEMM_ONE;
    g.store = g.dst_pitch.channel == 1 && g.walk.dst_c % 4 == 0                      ? GEMM_CHANNELS
              : g.all_phases == 1 && kiln_tiles_have_quads(&g.dst_pitch, g.walk.dst) ? GEMM_PIXELS
              : g.dst_pitch.pixel == 1                                               ? GEMM_ROWS
                                                                                     : GEMM_ONE;
    return g;
}

/* Sets the first pixel of the source that the phases of a pixel meet, from the pixel's own
 * place, and how many they meet. The filter's tap follows from phase and tap
 * (templates/gpu/gemm_pack.cl). */
static void merge_axis(kiln_gemm *g, const kiln_shape *s, int a, int64_t phases)
{
    const int64_t stride = s->stride[a], reach = (s->filter[a] - 1) * s->dilation[a];
    int64_t first = -s->pad[a], last = (phases - 1) * stride + reach - s->pad[a];
    if (s->direction == KILN_BACKWARD_DATA) {
        first = -divide_down(reach - s->pad[a], stride);
        last = divide_down(phases - 1 + s->pad[a], stride);
    }
    g->step[a] = s->direction == KILN_BACKWARD_DATA ? phases / stride : phases * stride;
    g->move[a] = g->jump[a] = 1;
    g->phases[a] = phases;
    g->grid[a] = divide_up(g->walk.dst[a], phases);
    g->walk.filter[a] = last - first + 1;
    g->walk.pad[a] = -first;
}

void kiln_gemm_merge(kiln_gemm *g, const kiln_shape *s, const int64_t phases[3])
{
    for (int a = 0; a < 3; a++)
        merge_axis(g, s, a, phases[a]);
    count_pixels(g);
    g->backward = g->spread = g->skips_taps = false;
    g->merged = true;
    g->group_phases = 1;
    g->taps = g->walk.filter[0] * g->walk.filter[1] * g->walk.filter[2];
    g->walk.dst_c *= g->all_phases;
    g->load = g->load == GEMM_CHANNELS ? GEMM_CHANNELS : GEMM_ONE;
    g->store = GEMM_ROWS;
}

static kiln_tiles_load source_load(const kiln_gemm *g)
{
    if (g->flat && !g->table)
        return KILN_TILES_LOOKED_FOR;
    if (g->load != GEMM_ONE)
        return KILN_TILES_OF_FOUR;
    return g->table ? KILN_TILES_BOUNDED : KILN_TILES_ALONE;
}

/* Neighbouring items read pixels that lie so far apart that they are in more lines of a cache. */
static double source_lines(const kiln_gemm *g)
{
    const int64_t apart = g->src_pitch.pixel * g->step[2];
    const bool looked_for = g->flat && !g->table;
    return g->load != GEMM_ONE || looked_for ? 1 : 0.5 + 0.5 * (double)(apart < 8 ? apart : 8);
}

void kiln_gemm_set(kiln_gemm *g, const kiln_config *c)
{
    const int64_t bm = c->v[TILES_BM], bn = c->v[TILES_BN], bk = c->v[TILES_BK];
    const int64_t gap = g->load == GEMM_CHANNELS ? 4 : 0;
    /* To fill the channels of a tap up costs more than to find each term's tap. */
    g->flat =
        g->load == GEMM_ONE && (round_up(g->walk.src_c, bk) - g->walk.src_c) * 8 > g->walk.src_c;
    g->table = g->flat && !g->skips_taps;
    g->channels = g->flat ? g->walk.src_c : round_up(g->walk.src_c, bk);
    g->rows = round_up(product_of(g->channels, g->taps), bk);
    g->columns = round_up(g->walk.dst_c, bm);
    g->tiles_m = g->columns / bm;
    g->tiles_n = divide_up(g->pixels, bn);
    const int64_t pieces = 2 * bk * (bm + bn + gap), slices = kiln_tiles_slices_room(c);
    const int64_t staged =
        g->store == GEMM_ROWS && c->v[TILES_SPLIT] == 1 ? bm / c->v[TILES_TM] * 4 * bn : 0;
    const int64_t after = slices > staged ? slices : staged;
    g->tiles = (kiln_tiles){
        .items = kiln_tiles_items(c),
        .local_bytes = 4 * (pieces > after ? pieces : after),
        .count =
            (double)(g->tiles_m * g->tiles_n * g->groups * g->group_phases) * c->v[TILES_SPLIT],
        .steps = divide_up(divide_up(g->rows / bk, g->group_phases), c->v[TILES_SPLIT]),
        .a_load = KILN_TILES_OF_FOUR,
        .b_load = source_load(g),
        .b_lines = source_lines(g),
    };
}
