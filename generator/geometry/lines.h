/* Lines: a tensor laid out so that each filter tap is one fixed offset. templates/direct_lines.cl
 * lays out the whole tensor, templates/piece.cl a piece of it. */
#ifndef KILN_LINES_H
#define KILN_LINES_H

#include "generator/plan/solver.h"

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
    int64_t positions;   /* destination positions along a line; the last one is an element */
    int64_t offset;      /* the largest offset of any tap */
    int64_t phases;      /* phases of the destination: 1 except in strided backward data */
} kiln_lines;

/* Returns the lines of the source: x in forward and backward weights, dy in backward data. */
kiln_lines kiln_lines_of(const kiln_shape *s);
/* Returns the lines of dy in backward weights: position f of dy meets position f + offset of x. */
kiln_lines kiln_lines_of_dy(const kiln_shape *s, const kiln_lines *x);
/* For reject(): returns true, with the reason, where positions or coordinates leave the range of an
 * int. */
bool kiln_lines_too_large(const kiln_shape *s, kiln_why *why);
/* Defines D_GRID, D_REACH, D_STEP, D_LEAD, D_SLOTS and D_PERIOD with their axes. */
void kiln_lines_define(const kiln_lines *l, kiln_plan *plan);

/* Returns the elements of a buffer whose readers take `span` positions at a time. */
int64_t kiln_lines_count(const kiln_lines *l, int64_t span);
/* Returns the time to lay out a tensor of `type` in ms, without the launch. */
double kiln_lines_ms(const kiln_lines *l, kiln_type type, const kiln_device_facts *d, int64_t span);
/* Adds the stage that lays out the tensor of `role`, and returns the role of the result. */
int kiln_lines_emit(const kiln_lines *l, const kiln_shape *s, const kiln_device_facts *d,
                    int64_t span, int role, kiln_plan *plan);

#endif
