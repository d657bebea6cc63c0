/* The epilogue's part of kiln_problem_check(). */
#ifndef KILN_PROBLEM_EPILOGUE_H
#define KILN_PROBLEM_EPILOGUE_H

#include "kiln_problem.h"

/* Gives every field one spelling. `activation` must be a valid kiln_activation. */
void kiln_epilogue_complete(kiln_epilogue *epilogue);
/* Whether a number is 0 or the type of a bias. */
bool kiln_bias_type_is_known(int type);
/* Checks the epilogue of a problem whose types and direction are checked. */
kiln_status kiln_epilogue_check(const kiln_problem *problem, char *why);

#endif
