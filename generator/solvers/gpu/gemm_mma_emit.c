/* A convolution as a product of matrices on tensor cores: the stages of its plan. */
#include "gemm_mma.h"

#include "generator/base/integers.h"

#include <math.h>

/* Defines what templates/gpu/gemm_places.cl asks for. For a merged product `filter` is the
 * shape's filter where weights are packed, and the pixels of the source that phases meet where
 * they are multiplied. */
static void define_places(const kiln_shape *s, const kiln_gemm_mma *g, const int64_t filter[3],
                          kiln_plan *plan)
{
    const kiln_gemm *m = &g->gemm;
    kiln_define(plan, "P_IMAGES", m->images);
    kiln_define_axes(plan, "P_SRC", m->walk.src);
    kiln_define_axes(plan, "P_DST", m->walk.dst);
    kiln_define_axes(plan, "P_FILTER", filter);
    kiln_define_axes(plan, "P_STRIDE", s->stride);
    kiln_define_axes(plan, "P_DILATION", s->dilation);
    kiln_define_axes(plan, "P_PAD", m->walk.pad);
    kiln_define(plan, "D_BACKWARD", m->backward);
    kiln_define_axes(plan, "D_STEP", m->step);
    kiln_define_axes(plan, "D_MOVE", m->move);
    kiln_define_axes(plan, "D_JUMP", m->jump);
    kiln_define_axes(plan, "D_GRID", m->grid);
    kiln_define_axes(plan, "D_PHASES", m->phases);
    kiln_pitch_define(&g->src.pitch, "D_SRC", plan);
    kiln_pitch_define(&g->dst.pitch, "D_DST", plan);
}

static void define_product(const kiln_shape *s, const kiln_gemm_mma *g, const int64_t filter[3],
                           kiln_plan *plan)
{
    const kiln_gemm *m = &g->gemm;
    const int64_t packed = product_of(product_of(g->groups * g->phases, g->columns), g->row);
    define_places(s, g, filter, plan);
    kiln_define(plan, "D_TOGETHER", g->together);
    kiln_define(plan, "D_SRC_C", g->together * m->walk.src_c);
    kiln_define(plan, "D_DST_C", g->dst_c);
    kiln_define(plan, "D_MERGED", m->merged);
    kiln_define(plan, "D_CHANNELS", g->channels);
    kiln_define(plan, "D_TAPS_INNER", g->taps_inner);
    kiln_define(plan, "D_COLUMNS", g->columns);
    kiln_define(plan, "D_ROW", g->row);
    if (!s->wide && (packed > INT32_MAX || product_of(m->images, g->src.pitch.image) > INT32_MAX))
        kiln_define(plan, "P_WIDE", 1);
}

static void emit_pack(const kiln_shape *s, const kiln_gemm_mma *g, const kiln_device_facts *d,
                      const kiln_config *c, kiln_plan *plan)
{
    const kiln_gemm *m = &g->gemm;
    const bool backward = s->direction == KILN_BACKWARD_DATA;
    const int64_t taps = s->filter[0] * s->filter[1] * s->filter[2], across = s->c / s->g * taps;
    plan->packed_bytes = g->groups * g->phases * g->columns * g->row * g->type_size;
    kiln_plan_stage(plan, "gemm_mma_pack.cl", "gemm_mma_pack")->pack = true;
    kiln_define_types(plan, s);
    define_product(s, g, s->filter, plan);
    kiln_define(plan, "T_BYTES", c->v[MMA_BYTES]);
    kiln_define(plan, "D_W_GROUP", s->k / s->g * across);
    kiln_define(plan, "D_W_DST", backward ? taps : across);
    kiln_define(plan, "D_W_SRC", backward ? across : taps);
    if (m->merged) {
        kiln_define_axes(plan, "D_TAPS", m->walk.filter);
        kiln_gemm_define_merged(m, s, plan);
    }
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_grid(plan, kiln_device_group(d, 64), 1, 1, g->row, g->columns, g->groups * g->phases);
}

static void define_all(const kiln_shape *s, const kiln_gemm_mma *g, const kiln_device_facts *d,
                       const kiln_config *c, kiln_plan *plan)
{
    kiln_define_types(plan, s);
    kiln_define_epilogue(plan, s);
    define_product(s, g, g->gemm.walk.filter, plan);
    kiln_define(plan, "P_GROUPS", g->groups);
    kiln_define(plan, "D_UNIT", g->src.unit);
    kiln_define(plan, "D_OUT_UNIT", g->out_unit);
    kiln_mma_define(&g->tiles, d, c, plan);
}

/* Errors are as large as those of plain sums, but values meet zeros. */
static const double merged_amplification = 1.000001;

void kiln_gemm_mma_emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                        const kiln_config *c, kiln_plan *plan)
{
    const kiln_gemm_mma g = kiln_gemm_mma_of(self, s, c);
    const kiln_gemm *m = &g.gemm;
    const int split = c->v[MMA_SPLIT];
    const bool backward = s->direction == KILN_BACKWARD_DATA;
    const int given = backward ? KILN_ROLE_Y : KILN_ROLE_X;
    const int64_t results = m->groups * g.phases * m->walk.dst_c * m->pixels;
    const double terms = (double)kiln_shape_terms(s);
    plan->amplification =
        kiln_mma_amplification(g.tiles.type, terms, terms / (split * kiln_mma_teams(c)));
    if (m->merged && g.tiles.type != KILN_I8)
        plan->amplification = fmax(plan->amplification, merged_amplification);
    emit_pack(s, &g, d, c, plan);
    const int src = kiln_mma_source_emit(&g.src, s, d, given, plan);
    const int dst = kiln_mma_result_role(&g.dst, s, plan);
    const int sums = split > 1 ? kiln_plan_temp(plan, 4 * split * results) : dst;
    kiln_plan_stage(plan, "gemm_mma.cl", "gemm_mma");
    define_all(s, &g, d, c, plan);
    kiln_arg_buffer(plan, src);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_arg_buffer(plan, sums);
    if (split == 1)
        kiln_arg_epilogue(plan, s);
    kiln_grid(plan, g.tiles.items, 1, 1, g.tiles_m * g.tiles_n * g.tiles.items, g.groups * g.phases,
              split);
    if (split > 1) {
        kiln_plan_stage(plan, "gemm_mma.cl", "gemm_mma_sum");
        define_all(s, &g, d, c, plan);
        kiln_arg_buffer(plan, sums);
        kiln_arg_buffer(plan, dst);
        kiln_arg_epilogue(plan, s);
        kiln_grid(plan, kiln_device_group(d, 128), 1, 1, results, 1, 1);
    }
    kiln_mma_result_emit(&g.dst, s, d, dst, plan);
}
