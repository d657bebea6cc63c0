/* CLBlast as a contender: its convolution by matrix products, NCHW in and out. */
#include "contender.h"

#include <clblast_c.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct clblast_contender {
    contender base;
    const session *session;
    const work *work;
    cl_mem x, w, y;
    cl_command_queue queue; /* a member, because the library takes its address */
} clblast_contender;

const char *contender_clblast_version(void)
{
    return BENCH_CLBLAST_VERSION; /* the library does not tell its version */
}

static bool enqueue(contender *c)
{
    clblast_contender *b = (clblast_contender *)c;
    const kiln_problem *p = &b->work->problem;
    return CLBlastSconvgemm(CLBlastKernelModeCrossCorrelation, (size_t)p->in_channels,
                            (size_t)p->input[0], (size_t)p->input[1], (size_t)p->filter[0],
                            (size_t)p->filter[1], (size_t)p->pad_begin[0], (size_t)p->pad_begin[1],
                            (size_t)p->stride[0], (size_t)p->stride[1], (size_t)p->dilation[0],
                            (size_t)p->dilation[1], (size_t)p->out_channels, (size_t)p->batch, b->x,
                            0, b->w, 0, b->y, 0, &b->queue, NULL) == CLBlastSuccess;
}

static bool finish(contender *c)
{
    return clFinish(((clblast_contender *)c)->queue) == CL_SUCCESS;
}

static bool read_result(contender *c, void *plain)
{
    clblast_contender *b = (clblast_contender *)c;
    size_t bytes = (size_t)kiln_problem_bytes(&b->work->problem, 'y', NULL);
    return clEnqueueReadBuffer(b->queue, b->y, CL_TRUE, 0, bytes, plain, 0, NULL, NULL) ==
           CL_SUCCESS;
}

static void release(contender *c)
{
    clblast_contender *b = (clblast_contender *)c;
    const cl_mem all[] = {b->x, b->w, b->y};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i])
            clReleaseMemObject(all[i]);
    free(b);
}

static const contender_calls calls = {enqueue, finish, read_result, release};

static bool is_symmetric(const kiln_problem *p)
{
    return p->pad_begin[0] == p->pad_end[0] && p->pad_begin[1] == p->pad_end[1];
}

static cl_mem make(const clblast_contender *b, char tensor, float *data)
{
    size_t bytes = (size_t)kiln_problem_bytes(&b->work->problem, tensor, NULL);
    return clCreateBuffer(b->session->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes,
                          data, NULL);
}

contender *contender_clblast(const session *s, const work *w, char *why)
{
    const kiln_problem *p = &w->problem;
    snprintf(why, KILN_ERROR_TEXT,
             "CLBlast does forward, 2-D, ungrouped convolutions with equal padding");
    if (p->direction != KILN_FORWARD || p->spatial_rank != 2 || p->groups != 1 || !is_symmetric(p))
        return NULL;
    clblast_contender *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    *b = (clblast_contender){.base = {.calls = &calls,
                                      .name = "CLBlast",
                                      .detail = "convgemm",
                                      .amplification = 1,
                                      .starts_only = true},
                             .session = s,
                             .work = w,
                             .queue = s->queue};
    b->x = make(b, 'x', w->x);
    b->w = make(b, 'w', w->w);
    b->y = make(b, 'y', w->y);
    if (b->x && b->w && b->y)
        return &b->base;
    release(&b->base);
    return NULL;
}
