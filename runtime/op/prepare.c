/* Builds many problems at once, so that later creations find their programs in the cache. */
#include "runtime/process.h"

#include "images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Creates a tensor, or the workspace where `role` is a temp's. */
static cl_mem make_object(kiln *k, const kiln_op *op, int role, int64_t bytes, cl_int *code)
{
    const kiln_plan *plan = kiln_op_plan(op);
    const kiln_image image = role < KILN_ROLE_TEMP ? kiln_plan_image(plan, role) : (kiln_image){0};
    if (bytes == 0 || *code != CL_SUCCESS)
        return NULL;
    return image.width ? kiln_image_create(k->context, &image, code)
                       : clCreateBuffer(k->context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, code);
}

kiln_status kiln_op_launch_once(kiln_op *op)
{
    if (!op)
        return kiln_fail(KILN_INVALID, "kiln_op_launch_once: op must not be NULL");
    if (!op->k->context)
        return kiln_fail(KILN_INVALID, "this kiln was opened without a device: it can only plan");
    if (kiln_process_check(op->k))
        return KILN_INVALID;
    kiln *k = op->k;
    struct kiln_call *const call = op->call;
    op->call = NULL; /* this is no run of the program's */
    kiln_op_info info;
    kiln_op_describe(op, &info);
    const kiln_problem *p = &info.problem;
    kiln_buffers b = {0};
    const struct {
        cl_mem *mem;
        int role;
        int64_t bytes;
    } wants[] = {
        {&b.x.mem, KILN_ROLE_X, kiln_problem_bytes(p, 'x', NULL)},
        {&b.w.mem, KILN_ROLE_W, kiln_problem_bytes(p, 'w', NULL)},
        {&b.y.mem, KILN_ROLE_Y, kiln_problem_bytes(p, 'y', NULL)},
        {&b.bias.mem, KILN_ROLE_BIAS, p->epilogue.bias ? kiln_problem_bytes(p, 'b', NULL) : 0},
        {&b.residual.mem, KILN_ROLE_RESIDUAL,
         p->epilogue.beta ? kiln_problem_bytes(p, 'y', NULL) : 0},
        {&b.workspace.mem, KILN_ROLE_TEMP, info.workspace_size},
    };
    cl_int code = CL_SUCCESS;
    cl_command_queue queue = clCreateCommandQueue(k->context, k->device, 0, &code);
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++)
        *wants[i].mem = make_object(k, op, wants[i].role, wants[i].bytes, &code);
    kiln_status status = code == CL_SUCCESS ? kiln_op_enqueue(op, queue, &b, 0, NULL, NULL)
                                            : kiln_fail_cl(code, "kiln_op_launch_once");
    if (queue) {
        clFinish(queue);
        clReleaseCommandQueue(queue);
    }
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++)
        if (*wants[i].mem)
            clReleaseMemObject(*wants[i].mem);
    op->call = call;
    return status;
}

typedef struct prepare_job {
    kiln *k;
    const kiln_problem *problems;
    size_t count;
    atomic_size_t next;
    pthread_mutex_t lock;
    kiln_status status; /* the first failure, and its sentence */
    char error[1024];
} prepare_job;

static void *work(void *argument)
{
    prepare_job *job = argument;
    size_t i;
    while ((i = atomic_fetch_add(&job->next, 1)) < job->count) {
        kiln_op *op = NULL;
        kiln_status status = kiln_conv_create(job->k, &job->problems[i], NULL, &op);
        if (!status)
            status = kiln_op_launch_once(op);
        if (status) {
            pthread_mutex_lock(&job->lock);
            if (!job->status) {
                job->status = status;
                snprintf(job->error, sizeof job->error, "problem %zu: %.900s", i,
                         kiln_last_error());
            }
            pthread_mutex_unlock(&job->lock);
        }
        kiln_op_release(op);
    }
    return NULL;
}

kiln_status kiln_prepare(kiln *k, const kiln_problem *problems, size_t count, int threads)
{
    if (!k || (count > 0 && !problems))
        return kiln_fail(KILN_INVALID, "kiln_prepare: k and problems must not be NULL");
    if (!k->context)
        return kiln_fail(KILN_INVALID, "this kiln was opened without a device: it can only plan");
    if (kiln_process_check(k))
        return KILN_INVALID;
    enum { MOST = 64 };
    long n = threads > 0 ? threads : sysconf(_SC_NPROCESSORS_ONLN);
    n = n < 1 ? 1 : n > MOST ? MOST : n;
    prepare_job job = {.k = k, .problems = problems, .count = count};
    pthread_mutex_init(&job.lock, NULL);
    pthread_t thread[MOST];
    long started = 0;
    while (started < n - 1 && pthread_create(&thread[started], NULL, work, &job) == 0)
        started++;
    work(&job);
    for (long i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    pthread_mutex_destroy(&job.lock);
    return job.status ? kiln_fail(job.status, "%s", job.error) : KILN_OK;
}
