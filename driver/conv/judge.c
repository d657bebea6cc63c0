/* A result with the bits of one that was verified is right, too, without another pass over the
 * reference: many configs only distribute the work and differ in no bit. */
#include "judge.h"

#include "driver/base/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t result_bytes(const tensors *t)
{
    return (size_t)kiln_problem_count(&t->problem, t->to) *
           kiln_type_size(reference_type(&t->problem));
}

static void remember(judge *j, const void *result, size_t bytes, double error)
{
    void *copy = j->ngood < JUDGE_GOOD ? malloc(bytes) : NULL;
    if (!copy)
        return;
    j->good[j->ngood].result = memcpy(copy, result, bytes);
    j->good[j->ngood++].error = error;
}

static int compare(judge *j, const kiln_op *op, double *error)
{
    tensors *t = j->tensors;
    char why[KILN_ERROR_TEXT];
    if (tensors_read(t, j->session, why) || t->dirty)
        return 1;
    kiln_op_info info;
    kiln_op_describe(op, &info);
    reference_tensors sources = tensors_sources(t);
    verify_options options = verify_options_for(j->request, &info, t->from_files);
    options.kept = &j->kept;
    bool gradient = t->bias && t->problem.direction == KILN_BACKWARD_WEIGHTS;
    if (gradient && !verify_bias_gradient(&t->problem, t->y, t->bias, &options).ok)
        return 1;
    size_t bytes = result_bytes(t);
    const void *result = tensors_destination(t);
    for (int i = 0; i < j->ngood; i++)
        if (memcmp(j->good[i].result, result, bytes) == 0) {
            *error = j->good[i].error;
            return 0;
        }
    const verify_result verdict = verify_destination(&t->problem, &sources, result, &options);
    *error = isfinite(verdict.worst) ? verdict.worst : 0;
    if (!verdict.ok)
        return 1;
    remember(j, result, bytes, *error);
    return 0;
}

int judge_result(judge *j, const kiln_op *op, double *error)
{
    const int64_t began = trace_begin();
    const int wrong = compare(j, op, error);
    trace_end(began, "verify", wrong ? "wrong" : "");
    return wrong;
}

void judge_free(judge *j)
{
    for (int i = 0; i < j->ngood; i++)
        free(j->good[i].result);
    kept_sums_free(&j->kept.whole);
    kept_sums_free(&j->kept.sample);
}
