/* What kiln knows of each activation: one row of activations.def. The functions that programs and
 * the command ask are in kiln_problem.h. */
#ifndef KILN_ACTIVATIONS_H
#define KILN_ACTIVATIONS_H

#include "kiln_problem.h"

typedef struct kiln_activation_row {
    const char *name;
    const char *synonyms; /* other libraries' names, between spaces: oneDNN's "gelu_erf"; or NULL */
    int params;           /* how many of epilogue.param[] it has */
    float usual[2];       /* what parameters are that are all left at 0 */
    bool positive;        /* its first parameter must be above 0 */
    bool ordered;         /* its first parameter must be below its second */
    bool curve;           /* no comparison and product alone: its code is long */
} kiln_activation_row;

/* Returns the row of an activation; NULL for a number that is none's. */
const kiln_activation_row *kiln_activation_facts(kiln_activation activation);
/* Whether an activation may have these parameters. */
kiln_status kiln_activation_check(kiln_activation activation, const float param[2], char *why);

#endif
