/* Shapes and epilogues for tests of blocks of channels and of images; tiles for blocks. */
#include "blocked_cases.h"

#include "kinds.h"
#include "support.h"

#include <string.h>

const char *blocked_layout(int rank, int block)
{
    static const char *const names[3][3] = {{"NCW4c", "NCW8c", "NCW16c"},
                                            {"NCHW4c", "NCHW8c", "NCHW16c"},
                                            {"NCDHW4c", "NCDHW8c", "NCDHW16c"}};
    return names[rank - 1][block / 8];
}

const char *blocked_solver(const kiln_problem *p)
{
    return strstr(p->x_layout, "WC") && strstr(p->y_layout, "WC") ? "nhwc_direct"
                                                                  : "direct_blocked";
}

void blocked_check(kiln_problem p, int block, const char *config)
{
    const char *name = blocked_layout(p.spatial_rank ? p.spatial_rank : 2, block);
    support_set_layouts(&p, name, name);
    support_check(&p, "direct_blocked", config, HOST_FILL_INT);
}

const kiln_problem blocked_shapes[BLOCKED_SHAPES] = {
    {.batch = 1, .in_channels = 1, .out_channels = 1, .input = {1, 1}, .filter = {1, 1}},
    /* Images of one pixel: the solver takes the batch as a row. */
    {.batch = 5, .in_channels = 35, .out_channels = 18, .input = {1, 1}, .filter = {1, 1}},
    {.batch = 3, .in_channels = 20, .out_channels = 40, .input = {7, 5}, .filter = {1, 1}},
    /* 1x1 whose pixels do not make one row: stride, padding. */
    {.batch = 2,
     .in_channels = 17,
     .out_channels = 33,
     .input = {11, 13},
     .filter = {1, 1},
     .stride = {2, 3}},
    {.batch = 2,
     .in_channels = 6,
     .out_channels = 7,
     .input = {4, 6},
     .filter = {1, 1},
     .pad_begin = {1, 2},
     .pad_end = {0, 3}},
    /* Usual shapes, with edges on both sides of one tile and of several. */
    {.batch = 2,
     .in_channels = 16,
     .out_channels = 32,
     .input = {7, 7},
     .filter = {3, 3},
     .pad_begin = {1, 1},
     .pad_end = {1, 1}},
    {.batch = 1,
     .in_channels = 19,
     .out_channels = 48,
     .input = {6, 57},
     .filter = {3, 3},
     .pad_begin = {1, 1},
     .pad_end = {1, 1}},
    {.batch = 2,
     .in_channels = 3,
     .out_channels = 20,
     .input = {23, 61},
     .filter = {7, 7},
     .stride = {2, 2},
     .pad_begin = {3, 3},
     .pad_end = {3, 3}},
    {.batch = 1, .in_channels = 18, .out_channels = 17, .input = {9, 40}, .filter = {5, 5}},
    /* Dilation, unequal padding, a stride beyond the filter. */
    [BLOCKED_DILATED] = {.batch = 2,
                         .in_channels = 21,
                         .out_channels = 16,
                         .input = {17, 31},
                         .filter = {3, 3},
                         .pad_begin = {2, 4},
                         .pad_end = {4, 3},
                         .dilation = {2, 3}},
    {.batch = 2,
     .in_channels = 4,
     .out_channels = 6,
     .input = {17, 29},
     .filter = {2, 3},
     .stride = {5, 4},
     .pad_begin = {1, 2},
     .pad_end = {3, 0}},
    /* Padding wider than the filter, a filter wider than the image. */
    {.batch = 1,
     .in_channels = 2,
     .out_channels = 3,
     .input = {4, 5},
     .filter = {2, 2},
     .pad_begin = {4, 9},
     .pad_end = {2, 8}},
    {.batch = 2,
     .in_channels = 3,
     .out_channels = 3,
     .input = {2, 1},
     .filter = {5, 4},
     .pad_begin = {2, 2},
     .pad_end = {3, 1}},
    /* Many taps along a row: strips instead of unrolling. */
    {.batch = 1,
     .in_channels = 17,
     .out_channels = 19,
     .input = {3, 37},
     .filter = {1, 19},
     .pad_begin = {0, 9},
     .pad_end = {0, 9}},
    {.batch = 1,
     .in_channels = 32,
     .out_channels = 64,
     .groups = 2,
     .input = {8, 10},
     .filter = {3, 3},
     .pad_begin = {1, 1},
     .pad_end = {1, 1}},
    {.batch = 2,
     .in_channels = 48,
     .out_channels = 144,
     .groups = 3,
     .input = {6, 7},
     .filter = {1, 1}},
    {.spatial_rank = 1,
     .batch = 3,
     .in_channels = 20,
     .out_channels = 33,
     .input = {131},
     .filter = {7},
     .stride = {3},
     .dilation = {2},
     .pad_begin = {6},
     .pad_end = {1}},
    {.spatial_rank = 3,
     .batch = 2,
     .in_channels = 18,
     .out_channels = 17,
     .input = {5, 6, 17},
     .filter = {3, 2, 3},
     .stride = {2, 1, 1},
     .dilation = {1, 3, 1},
     .pad_begin = {1, 0, 2},
     .pad_end = {0, 2, 1}},
    {.spatial_rank = 3,
     .batch = 1,
     .in_channels = 5,
     .out_channels = 16,
     .input = {4, 3, 5},
     .filter = {1, 1, 1}},
    /* Taps further apart than tiles are wide: some reach no pixel of a tile, some all of them. */
    {.batch = 1,
     .in_channels = 18,
     .out_channels = 17,
     .input = {7, 33},
     .filter = {3, 3},
     .pad_begin = {3, 12},
     .pad_end = {3, 12},
     .dilation = {3, 12}},
};

const kiln_epilogue blocked_epilogues[BLOCKED_EPILOGUES] = {
    {.bias = 1},
    {.alpha = 0.5f},
    {.alpha = -2, .beta = 3, .bias = 1, .activation = KILN_RELU},
    {.bias = 1, .activation = KILN_CLIPPED_RELU, .param = {6}},
    {.beta = 1, .activation = KILN_LEAKY_RELU, .param = {0.25f}},
    {.alpha = 0.125f, .activation = KILN_ELU, .param = {1.5f}},
    {.alpha = 0.0625f, .bias = 1, .activation = KILN_TANH, .param = {0.5f, 2}},
    {.alpha = 0.125f, .activation = KILN_SIGMOID},
    {.alpha = 0.125f, .beta = 0.5f, .bias = 1, .activation = KILN_SIGMOID},
    {.alpha = 0.125f, .beta = 0.5f, .activation = KILN_SILU},
    {.alpha = 0.125f, .bias = 1, .activation = KILN_GELU},
    {.bias = 1, .activation = KILN_HARD_SWISH},
    {.alpha = 0.125f, .beta = 0.5f, .activation = KILN_HARD_SIGMOID},
    {.beta = 1, .activation = KILN_HARD_TANH},
    {.alpha = 0.125f, .bias = 1, .activation = KILN_MISH},
    {.alpha = 0.125f, .beta = 0.5f, .activation = KILN_EXP},
    {.alpha = -2, .bias = 1, .activation = KILN_ABS},
    {.bias = 1, .beta = 1, .activation = KILN_SQUARE},
    {.alpha = 0.125f, .bias = 1, .activation = KILN_SOFTPLUS, .param = {2}},
};

const kiln_problem blocked_small = {.batch = 1,
                                    .in_channels = 5,
                                    .out_channels = 37,
                                    .input = {2, 10},
                                    .filter = {1, 3},
                                    .pad_begin = {0, 1},
                                    .pad_end = {0, 1}};
const char blocked_small_tile[] = "T_W=4,T_KV=1";

const char *blocked_tile(const kiln_problem *p)
{
    return p->input[p->spatial_rank ? p->spatial_rank - 1 : 1] > 25 ? "T_W=4,T_KV=1" : NULL;
}
