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
/* Defines every parameter for the last stage. */
void kiln_direct_define_params(const kiln_config *c, kiln_plan *plan);

/* Return the channels of one group, of the destination and of the source, and the taps of the
 * filter. */
int64_t kiln_direct_dst_channels(const kiln_shape *s);
int64_t kiln_direct_src_channels(const kiln_shape *s);
int64_t kiln_direct_taps(const kiln_shape *s);
/* Defines P_GROUPS, D_DST_C, D_SRC_C, D_TAPS, and the strides of weights, D_W_DST and D_W_SRC. */
void kiln_direct_define_weights(const kiln_shape *s, kiln_plan *plan);
/* Returns the elements of weights packed in blocks of `t_k` channels. */
int64_t kiln_direct_packed(const kiln_shape *s, int t_k);
/* Returns how many source channels a vector of `vec` elements multiplies at once: pairs of bf16
 * where the CPU does that, which takes numbers below 2^-126 for zero. */
int kiln_direct_together(const kiln_shape *s, const kiln_device_facts *d, int vec);
/* Adds the stage that packs the weights in blocks of `t_k` channels, with `together` source
 * channels as one element. If a group does not fill its last block, the block has zeros for the
 * missing channels, or else starts earlier. */
void kiln_direct_pack_emit(const kiln_shape *s, int t_k, int together, bool zeros, kiln_plan *plan);
/* For illegal(): returns true, with the reason, when an item would keep more than its share of
 * local memory: `scratch` elements of `of`, a noun for the message. */
bool kiln_direct_keeps_too_much(int64_t scratch, const char *of, const kiln_device_facts *d,
                                kiln_why *why);
/* Return the positions that a group of items takes, and all positions of an image, or of all images
 * in lines. */
int64_t kiln_direct_span(const kiln_config *c);
int64_t kiln_direct_positions(const kiln_shape *s, const kiln_lines *l, const kiln_config *c);
/* As predict() of kiln_solver, for forward and backward data. */
double kiln_direct_ms(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c);

/* As the members of kiln_solver for backward weights, after the checks that all directions share.
 */
bool kiln_direct_weights_sums_long(const kiln_shape *s, kiln_why *why); /* too long for parts */
bool kiln_direct_weights_illegal(const kiln_shape *s, const kiln_config *c, kiln_why *why);
void kiln_direct_weights_guess(const kiln_solver *self, const kiln_shape *s,
                               const kiln_device_facts *d, kiln_config *c);
double kiln_direct_weights_ms(const kiln_solver *self, const kiln_shape *s,
                              const kiln_device_facts *d, const kiln_config *c);
void kiln_direct_weights_emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                              kiln_plan *plan);

/* The first fit of the solver direct. */
extern const kiln_fit kiln_direct_fit;

/* Returns the share of the peak that backward weights is scaled to. */
double kiln_direct_reached_weights(const kiln_solver *self, const kiln_device_facts *d);

#endif
