/* Judges the results of many operations for one problem against the reference. */
#ifndef KILN_JUDGE_H
#define KILN_JUDGE_H

#include "driver/reference/verify.h"

#include "report.h"
#include "tensors.h"

enum { JUDGE_GOOD = 4 };

/* Fill in the first three; start with zero else. */
typedef struct judge {
    const session *session;
    tensors *tensors;
    const request *request;
    struct {
        void *result;
        double error;
    } good[JUDGE_GOOD]; /* results that were verified in full */
    int ngood;
    struct verify_kept kept; /* the reference, which all share */
} judge;

/* Reads the destination and compares it. Returns non-zero where it is wrong; *error is the largest
 * error over its bound. */
int judge_result(judge *j, const kiln_op *op, double *error);
void judge_free(judge *j);

#endif
