/* The part of scales and zero points in kiln_problem_check(), and questions about them. */
#ifndef KILN_PROBLEM_QUANT_H
#define KILN_PROBLEM_QUANT_H

#include "kiln_problem.h"

/* Gives each field one spelling. The types of the problem are complete. */
void kiln_quant_complete(kiln_problem *problem);
/* Checks them in a problem whose types, direction and epilogue are checked. */
kiln_status kiln_quant_check(const kiln_problem *problem, char *why);
/* Whether each number is in its field's range, so that the text of the problem can be written. */
bool kiln_quant_is_complete(const kiln_problem *problem);
/* Whether a checked problem has a scale, a zero point or a rounding at all. */
bool kiln_quant_is_used(const kiln_problem *problem);

#endif
