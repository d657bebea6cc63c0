/* What kiln knows of each storage type: one row of types.def, asked by functions. The functions
 * that programs and the command ask are in kiln_problem.h. */
#ifndef KILN_TYPES_H
#define KILN_TYPES_H

#include "kiln_problem.h"

#include <stdint.h>

typedef struct kiln_type_row {
    const char *name;
    const char *kernel;     /* what types.cl calls it: "TYPE_F16" */
    const char *miopen;     /* what MIOpen's keys call it; NULL: they have no such type */
    size_t size;            /* bytes of an element */
    bool integer;           /* exact sums in i32; else sums in f32 */
    int fraction, exponent; /* bits of a floating type's fraction and exponent as stored */
    /* A NaN with a payload, or an integer that a sum of products hardly reaches. A byte has no such
     * value; 0x8f is wrong in 255 of 256 cases. */
    uint32_t poison;
    kiln_type result; /* of a destination that is left at default, where sources have this type */
    unsigned results; /* the types that such a destination may have, bit 1 << type each; none: the
                         type is no source's */
    unsigned forward; /* types that the destination of a forward pass may have as well; a stage
                         behind the solver's makes them from sums (kiln_shape.split) */
    unsigned weights; /* types, beside its own, that w may have where x has this one */
    bool imaged;      /* OpenCL's images can hold it */
    bool stored_only; /* solvers have it only by way of types.cl, as kiln_solver.any_type says */
} kiln_type_row;

/* Returns the row of a valid type. */
const kiln_type_row *kiln_type_facts(kiln_type type);
/* Whether the number is a type's; KILN_TYPE_DEFAULT is none. */
bool kiln_type_is_known(int64_t type);
/* Whether the type holds fractions, so that a bias may have it. */
bool kiln_type_is_float(kiln_type type);
/* Whether sources of type `from` may have a destination of type `to`, in any direction. */
bool kiln_type_gives(kiln_type from, kiln_type to);
/* The same of a forward pass. */
bool kiln_type_gives_forward(kiln_type from, kiln_type to);
/* Whether x of a forward pass may have type `x` where w has type `w`. */
bool kiln_type_takes_weights(kiln_type x, kiln_type w);

#endif
