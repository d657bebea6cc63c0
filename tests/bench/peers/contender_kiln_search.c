/* Lets kiln search before it takes part in a comparison. */
#include "kiln_tune.h"

#include "contender_kiln.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct hunt {
    const session *session;
    const work *work;
    void *result;
    double predicted_ms; /* of the trial that judge() saw last */
} hunt;

/* Makes the trial again and runs it with tensors in its layouts, which are known only now. */
static int judge(void *user, const kiln_op *op, double *error)
{
    (void)error;
    hunt *h = user;
    kiln_op_info info;
    char why[KILN_ERROR_TEXT];
    kiln_op_describe(op, &info);
    h->predicted_ms = info.predicted_ms;
    const kiln_choice same = {.solver = info.solver, .config = info.config};
    kiln_op *again;
    if (kiln_conv_create(h->session->kiln, &info.problem, &same, &again) != KILN_OK)
        return 1;
    contender *c = contender_kiln_wrap(h->session, h->work, again, why);
    bool right = c && contender_verify(c, h->work, h->result, why);
    contender_release(c);
    return !right;
}

/* Makes buffers that are large enough for any layout that rounds channels up. */
static bool make_roomy(const session *s, const kiln_problem *p, kiln_buffers *b)
{
    enum { BLOCK = 64 };
    kiln_problem roomy = *p;
    *roomy.x_layout = *roomy.w_layout = *roomy.y_layout = '\0';
    roomy.in_channels = (p->in_channels + BLOCK - 1) / BLOCK * BLOCK;
    roomy.out_channels = (p->out_channels + BLOCK - 1) / BLOCK * BLOCK;
    if (roomy.in_channels % roomy.groups || roomy.out_channels % roomy.groups)
        roomy.groups = 1;
    bool fine = kiln_problem_check(&roomy, NULL) == KILN_OK;
    for (const char *t = "xwy"; fine && *t; t++) {
        const memory_kind kind = memory_of_buffer((size_t)kiln_problem_bytes(&roomy, *t, NULL));
        fine = contender_kiln_memory(s, contender_kiln_buffer(b, *t), &kind);
    }
    return fine;
}

static int tell(void *user, const kiln_trial *trial)
{
    static const char *const verdicts[] = {"", " did not build", " did not run", " is wrong",
                                           " is slow"};
    const hunt *h = user;
    printf("    %.4f ms (%.4f) %s %s%s\n", trial->ms, h->predicted_ms, trial->solver, trial->config,
           verdicts[trial->verdict]);
    return 0;
}

/* Searches on buffers of zeros; judge() has tensors of its own. */
static bool search(hunt *h, const kiln_problem *p, int trials, bool each, kiln_trial *best)
{
    kiln_buffers b = {0};
    const kiln_tune_options options = {.max_trials = trials,
                                       .verify = judge,
                                       .user = h,
                                       .runs = 5,
                                       .progress = each ? tell : NULL};
    cl_command_queue queue = clCreateCommandQueue(h->session->context, h->session->device,
                                                  CL_QUEUE_PROFILING_ENABLE, NULL);
    bool fine = queue && make_roomy(h->session, p, &b) &&
                kiln_tune(h->session->kiln, p, queue, &b, &options, best) == KILN_OK;
    for (const char *t = "xwy"; *t; t++)
        if (contender_kiln_buffer(&b, *t)->mem)
            clReleaseMemObject(contender_kiln_buffer(&b, *t)->mem);
    if (queue)
        clReleaseCommandQueue(queue);
    return fine;
}

contender *contender_kiln_tuned(const session *s, const work *w, const rules *r, int trials,
                                bool each, char *why)
{
    const kiln_problem p = contender_kiln_problem(w, r);
    hunt h = {s, w, malloc((size_t)reference_count(&w->problem) * sizeof(float)), 0};
    kiln_trial best;
    bool found = h.result && search(&h, &p, trials, each, &best);
    free(h.result);
    const kiln_choice choice = {.solver = found ? best.solver : NULL,
                                .config = found ? best.best_config : NULL};
    return contender_kiln(s, w, r, found ? &choice : NULL, why);
}
