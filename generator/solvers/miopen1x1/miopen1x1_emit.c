/* Makes the plans of ConvOclDirectFwd1x1: MIOpen's options in MIOpen's order, then the options that
 * kiln's templates add. */
#include "miopen1x1.h"

/* kiln's options come last, so that the line begins with MIOpen's. */
static void define_kiln(kiln_plan *plan, const kiln_shape *s)
{
    kiln_define_types(plan, s);
    kiln_define_epilogue(plan, s);
}

static void define_j1(kiln_plan *plan, const miopen1x1_view *v, const miopen1x1_numbers *m)
{
    kiln_define(plan, "MLO_FILTER_STRIDE0", v->stride_w);
    kiln_define(plan, "MLO_FILTER_STRIDE1", v->stride_h);
    kiln_define(plan, "MLO_N_LCL_IN_MAPS_ONCE", m->once);
    kiln_define(plan, "BATCHSIZE", v->n);
    kiln_define(plan, "H", v->in_h);
    kiln_define(plan, "W", v->in_w);
    kiln_define(plan, "C", v->inputs);
    kiln_define(plan, "K", v->outputs);
    kiln_define(plan, "MLO_N_LCL_IN_MAPS", m->in_maps);
    kiln_define(plan, "MLO_N_INPUTS", v->inputs);
    kiln_define(plan, "MLO_N_OUTPUTS", v->outputs);
    kiln_define(plan, "H_out", v->out_h);
    kiln_define(plan, "W_out", v->out_w);
    kiln_define(plan, "MLO_N_IN_GROUPS", m->in_groups);
    kiln_define(plan, "MLO_CLOOP0", m->cloop0);
    kiln_define(plan, "MLO_CLOOP2", m->cloop2);
    kiln_define(plan, "MLO_N_LCL_OUT_MAPS", m->out_maps);
    kiln_define(plan, "MLO_CHEAT_SHADER_COMPILER", m->cheat);
    kiln_define(plan, "MLopen_RUNNING", 1);
}

static void fact_j1(kiln_plan *plan, const miopen1x1_numbers *m)
{
    kiln_plan_fact(plan, "N_LCL_IN_MAPS", m->in_maps);
    kiln_plan_fact(plan, "N_LCL_OUT_MAPS", m->out_maps);
    kiln_plan_fact(plan, "N_LCL_IN_MAPS_ONCE", m->once);
    kiln_plan_fact(plan, "N_IN_GROUPS", m->in_groups);
    kiln_plan_fact(plan, "N_OUT_GROUPS", m->out_groups);
    kiln_plan_fact(plan, "CLOOP0", m->cloop0);
    kiln_plan_fact(plan, "CLOOP2", m->cloop2);
}

void kiln_miopen1x1_emit_j1(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                            kiln_plan *plan)
{
    miopen1x1_view v = kiln_miopen1x1_view(s);
    miopen1x1_numbers m = kiln_miopen1x1_numbers(&v, c);
    /* Partial sums over C meet in y by atomic adds. Clearing y inside the kernel would race with
     * them, since work-groups run in any order, so a command of its own clears y. */
    if (m.in_groups > 1)
        kiln_plan_clear(plan, KILN_ROLE_Y, s->y_count * (int64_t)kiln_type_size(s->y_type));
    kiln_plan_stage(plan, "miopen1x1_j1.cl", "MIOpenConv1x1");
    define_j1(plan, &v, &m);
    kiln_define(plan, "D_LANES", d->kind == KILN_DEVICE_CPU ? 16 : 1);
    define_kiln(plan, s);
    kiln_arg_buffer(plan, KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_arg_buffer(plan, KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    kiln_grid(plan, m.local, 1, 1, m.global[0], 1, 1);
    fact_j1(plan, &m);
}

static void define_s_tensors(kiln_plan *plan, const miopen1x1_view *v)
{
    kiln_define(plan, "MLO_DIR_FORWARD", v->forward);
    kiln_define(plan, "MLO_FILTER_SIZE0", 1);
    kiln_define(plan, "MLO_FILTER_SIZE1", 1);
    kiln_define(plan, "MLO_FILTER_STRIDE0", v->stride_w);
    kiln_define(plan, "MLO_FILTER_STRIDE1", v->stride_h);
    kiln_define(plan, "MLO_FILTER_PAD0", 0);
    kiln_define(plan, "MLO_FILTER_PAD1", 0);
    kiln_define(plan, "MLO_IN_WIDTH", v->in_w);
    kiln_define(plan, "MLO_IN_HEIGHT", v->in_h);
    kiln_define(plan, "MLO_OUT_WIDTH", v->out_w);
    kiln_define(plan, "MLO_OUT_HEIGHT", v->out_h);
    kiln_define(plan, "MLO_N_OUTPUTS", v->outputs);
    kiln_define(plan, "MLO_N_INPUTS", v->inputs);
    kiln_define(plan, "MLO_BATCH_SZ", v->n);
    kiln_define(plan, "MLO_OUT_BATCH_STRIDE", v->outputs * v->out_h * v->out_w);
    kiln_define(plan, "MLO_OUT_CHANNEL_STRIDE", v->out_h * v->out_w);
    kiln_define(plan, "MLO_OUT_STRIDE", v->out_w);
    kiln_define(plan, "MLO_IN_BATCH_STRIDE", v->inputs * v->in_h * v->in_w);
    kiln_define(plan, "MLO_IN_CHANNEL_STRIDE", v->in_h * v->in_w);
    kiln_define(plan, "MLO_IN_STRIDE", v->in_w);
    kiln_define(plan, "MLO_WEI_BSTRIDE", v->forward ? v->inputs : v->outputs);
    kiln_define(plan, "MLO_WEI_CHANNEL_STRIDE", 1);
}

static void define_s_tiles(kiln_plan *plan, const miopen1x1_numbers *m, int bias)
{
    kiln_define(plan, "MLO_GRP_SZ0", m->local);
    kiln_define(plan, "MLO_GRP_SZ1", 1);
    kiln_define(plan, "MLO_GRP_SZ2", 1);
    kiln_define(plan, "MLO_MAP_SZ4", m->map_sz4);
    kiln_define(plan, "MLO_OUT_WIDTH4", m->out_width4);
    kiln_define(plan, "MLO_VERT_ALIGNED", m->vert_aligned);
    kiln_define(plan, "MLO_HORIZ_ALIGNED", m->horiz_aligned);
    kiln_define(plan, "MLO_N_LCL_BATCHS", m->stacks);
    kiln_define(plan, "MLO_N_LCL_OUT_MAPS", m->out_maps);
    kiln_define(plan, "MLO_N_LCL_IN_MAPS", m->in_maps);
    kiln_define(plan, "MLO_CONV_BIAS", bias);
    kiln_define(plan, "MLO_READ_UNIT", m->read_unit);
    kiln_define(plan, "MLO_CLOOP0", m->cloop0);
}

static void fact_s(kiln_plan *plan, const miopen1x1_numbers *m)
{
    kiln_plan_fact(plan, "N_LCL_IN_MAPS", m->in_maps);
    kiln_plan_fact(plan, "N_LCL_OUT_MAPS", m->out_maps);
    kiln_plan_fact(plan, "N_OUT_GROUPS", m->out_groups);
    kiln_plan_fact(plan, "CLOOP0", m->cloop0);
    kiln_plan_fact(plan, "READ_UNIT", m->read_unit);
    kiln_plan_fact(plan, "MAP_SZ4", m->map_sz4);
}

void kiln_miopen1x1_emit_s(const kiln_shape *s, const kiln_config *c, kiln_plan *plan)
{
    miopen1x1_view v = kiln_miopen1x1_view(s);
    miopen1x1_numbers m = kiln_miopen1x1_numbers(&v, c);
    kiln_plan_stage(plan, "miopen1x1_s.cl", v.strided ? "MIOpenConv1x1pquv" : "MIOpenConv1x1");
    define_s_tensors(plan, &v);
    define_s_tiles(plan, &m, s->epilogue.bias != 0);
    define_kiln(plan, s);
    kiln_arg_buffer(plan, v.forward ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_arg_buffer(plan, v.forward ? KILN_ROLE_Y : KILN_ROLE_X);
    kiln_arg_epilogue(plan, s);
    kiln_grid(plan, m.local, 1, 1, m.global[0], m.global[1], 1);
    fact_s(plan, &m);
}
