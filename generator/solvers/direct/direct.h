/* What the direct solvers over plain tensors share: parameters, and the lines in which each tap is
 * one fixed offset, laid out whole by templates/direct_lines.cl or in pieces by templates/piece.cl.
 */
#ifndef KILN_DIRECT_H
#define KILN_DIRECT_H

#include "generator/geometry/lines.h"
#include "generator/geometry/sum_parts.h"
#include "generator/plan/solver.h"

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
/* For illegal(): true, with the reason, when `scratch` elements are more than an item may keep in
 * local memory. `of` says what they are. */
bool kiln_direct_keeps_too_much(int64_t scratch, const char *of, const kiln_device_facts *d,
                                kiln_why *why);
/* Positions that a group takes of one image, or of all, and how many there are. */
int64_t kiln_direct_span(const kiln_config *c);
int64_t kiln_direct_positions(const kiln_shape *s, const kiln_lines *l, const kiln_config *c);
/* As kiln_solver's predict(): forward and backward data. */
double kiln_direct_ms(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c);

/* As the members of kiln_solver for backward weights, after the checks that all directions share.
 */
bool kiln_direct_weights_illegal(const kiln_shape *s, const kiln_config *c, kiln_why *why);
void kiln_direct_weights_guess(const kiln_shape *s, const kiln_device_facts *d, kiln_config *c);
double kiln_direct_weights_ms(const kiln_shape *s, const kiln_device_facts *d,
                              const kiln_config *c);
void kiln_direct_weights_emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                              kiln_plan *plan);

#endif
