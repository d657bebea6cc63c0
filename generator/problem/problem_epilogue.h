/* The epilogue's part of kiln_problem_check(). */
#ifndef KILN_PROBLEM_EPILOGUE_H
#define KILN_PROBLEM_EPILOGUE_H

#include "kiln_problem.h"

/* Gives every field one spelling. The activation must be one. */
void kiln_epilogue_complete(kiln_epilogue *epilogue);
/* Needs the problem's types and direction checked. */
kiln_status kiln_epilogue_check(const kiln_problem *problem, char *why);

#endif
