/* The parameters of the direct solver, and the positions that a group of items takes. */
#include "direct.h"

const kiln_param kiln_direct_params[DIRECT_PARAMS] = {
    [DIRECT_VEC] = {"T_VEC", 4, {1, 4, 8, 16}, 0, 0},
    [DIRECT_K] = {"T_K", 7, {1, 2, 4, 6, 8, 12, 16}, 1, 16},
    [DIRECT_PIX] = {"T_PIX", 5, {1, 2, 3, 4, 8}, 1, 8},
    [DIRECT_C] = {"T_C", 2, {16, 64}, 1, 4096},
    [DIRECT_SPLIT] = {"T_SPLIT", 4, {1, 4, 16, 64}, 1, 4096},
    [DIRECT_GROUP] = {"T_GROUP", 3, {1, 64, 128}, 1, 1024},
    [DIRECT_GROUP_K] = {"T_GROUP_K", 2, {1, 4}, 1, 64},
    [DIRECT_ORDER] = {"T_ORDER", 2, {0, 1}, 0, 0},
    [DIRECT_COPY] = {"T_COPY", 2, {0, 1}, 0, 0},
    [DIRECT_PACK] = {"T_PACK", 2, {0, 1}, 0, 0},
    [DIRECT_STREAM] = {"T_STREAM", 2, {0, 1}, 0, 0},
};

void kiln_direct_define_params(const kiln_config *c, kiln_plan *plan)
{
    kiln_define_params(plan, kiln_direct_params, DIRECT_PARAMS, c);
}

int64_t kiln_direct_span(const kiln_config *c)
{
    return (int64_t)c->v[DIRECT_GROUP] * c->v[DIRECT_PIX] * c->v[DIRECT_VEC];
}

int64_t kiln_direct_positions(const kiln_shape *s, const kiln_lines *l, const kiln_config *c)
{
    return c->v[DIRECT_COPY] ? l->positions : s->in[0] * s->in[1] * s->in[2];
}
