/* What the direct solvers over plain tensors share: parameters, and the lines in which each tap is
 * one fixed offset, laid out whole by templates/direct_lines.cl or in pieces by templates/piece.cl.
 */
#ifndef KILN_SOLVER_DIRECT_H
#define KILN_SOLVER_DIRECT_H

#include "solver.h"

/* Positions in the parameter table. */
enum {
    DIRECT_VEC,
    DIRECT_K,
    DIRECT_PIX,
    DIRECT_C,
    DIRECT_SPLIT,
    DIRECT_GROUP,
    DIRECT_GROUP_K,
    DIRECT_ORDER,
    DIRECT_COPY,
    DIRECT_PACK,
    DIRECT_STREAM,
    DIRECT_PARAMS
};

extern const kiln_param kiln_direct_params[DIRECT_PARAMS];
/* -D of every parameter, for the last stage. */
void kiln_direct_define_params(const kiln_config *c, kiln_plan *plan);

/* The geometry of one shape, in which tap r of an axis reads position f + offset(r) of its slot;
 * position v of a slot holds the source's element step * v + phase(slot) - lead, or zero. */
typedef struct kiln_lines {
    int64_t source[3]; /* sizes of the source tensor */
    int64_t grid[3];   /* destination positions, of one phase */
    int64_t reach[3];  /* largest offset of a tap */
    int64_t line[3];   /* positions in the line */
    int64_t step[3], lead[3], slots[3], period[3];
    int64_t n, channels; /* of the source */
    int64_t rows;        /* of one channel's line */
    int64_t channel;     /* positions of one channel's line */
    int64_t positions;   /* of the destination along a line; the last one is an element */
    int64_t offset;      /* the largest of any tap */
    int64_t phases;      /* of the destination: 1 but for a strided backward data */
} kiln_lines;

/* The source is x in forward and backward weights, dy in backward data. */
kiln_lines kiln_lines_of(const kiln_shape *s);
/* The lines of dy in backward weights: its position f meets position f + offset of x. */
kiln_lines kiln_lines_of_dy(const kiln_shape *s, const kiln_lines *x);
/* For reject(): true, with the reason, where positions or coordinates leave the range of an int. */
bool kiln_lines_too_large(const kiln_shape *s, kiln_why *why);
/* D_GRID, D_REACH, D_STEP, D_LEAD, D_SLOTS and D_PERIOD with their axes. */
void kiln_lines_define(const kiln_lines *l, kiln_plan *plan);
/* True where the source tensor is its own line: then T_COPY may be 0. */
bool kiln_lines_in_place(const kiln_shape *s);

/* Elements of a buffer whose readers take `span` positions at a time. */
int64_t kiln_lines_count(const kiln_lines *l, int64_t span);
/* What it takes to lay out a tensor of `type`, without a launch. */
double kiln_lines_ms(const kiln_lines *l, kiln_type type, const kiln_device_facts *d, int64_t span);
/* Adds the stage that lays out the tensor of `role`; returns the role of the result. */
int kiln_lines_emit(const kiln_lines *l, const kiln_shape *s, const kiln_device_facts *d,
                    int64_t span, int role, kiln_plan *plan);

/* What it takes to add up `parts` sums of `count` elements, which other cores have, with a launch.
 */
double kiln_sum_parts_ms(const kiln_device_facts *d, int64_t count, int64_t parts);
/* Adds the stage that sums the `parts` copies of dw, `count` elements each, in the buffer `from`
 * into `to`. */
void kiln_sum_parts_emit(const kiln_shape *s, const kiln_device_facts *d, int64_t count,
                         int64_t parts, int from, int to, kiln_plan *plan);

/* Channels of one group, of the destination and the source, and taps of the filter. */
int64_t kiln_direct_dst_channels(const kiln_shape *s);
int64_t kiln_direct_src_channels(const kiln_shape *s);
int64_t kiln_direct_taps(const kiln_shape *s);
/* P_GROUPS, D_DST_C, D_SRC_C, D_TAPS, and the strides of weights, D_W_DST and D_W_SRC. */
void kiln_direct_define_weights(const kiln_shape *s, kiln_plan *plan);
/* Elements of weights packed in blocks of `t_k` channels. */
int64_t kiln_direct_packed(const kiln_shape *s, int t_k);
/* Adds the stage that packs the weights in blocks of `t_k` channels (templates/pack_blocks.cl); the
 * last one of a group has zeros for those that it lacks, or else starts earlier. */
void kiln_direct_pack_emit(const kiln_shape *s, int t_k, bool zeros, kiln_plan *plan);
/* Positions that a group takes of one image, or of all, and how many there are. */
int64_t kiln_direct_span(const kiln_config *c);
int64_t kiln_direct_positions(const kiln_shape *s, const kiln_lines *l, const kiln_config *c);
/* As kiln_solver has it. */
double kiln_direct_predict(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c);

/* Backward weights: the members of kiln_solver, after the checks that all directions share. */
bool kiln_direct_weights_illegal(const kiln_shape *s, const kiln_config *c, kiln_why *why);
void kiln_direct_weights_guess(const kiln_shape *s, const kiln_device_facts *d, kiln_config *c);
double kiln_direct_weights_predict(const kiln_shape *s, const kiln_device_facts *d,
                                   const kiln_config *c);
void kiln_direct_weights_emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                              kiln_plan *plan);

#endif
