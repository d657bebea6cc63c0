/* The bare kernel: it reads each byte of the sources once, writes the result once, and multiplies
 * and adds as often as the definition does, from registers. Every kernel must do that much, so none
 * on this device can be much faster. The bare kernel shows how near to a peer's time a kernel could
 * come; its result is of no use.
 */
#include "runtime/kiln/kiln_internal.h"
#include "runtime/pocl/pocl_internal.h"

#include "contender.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 16, AT_ONCE = 6 };

typedef struct bare_contender {
    contender base;
    const session *session;
    cl_kernel kernel;
    cl_mem from, to;
    size_t groups; /* of one work-item */
} bare_contender;

/* Loads six vectors at a time, as many as registers hold; computes `rounds` multiply-adds with
 * each, and `more` rounds after all of them. */
static const char text[] =
    "#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5)\n"
    "#define LOAD(K) float16 v##K = from[i + K];\n"
    "#define ADD(K) a##K = a##K * 0.5f + v##K;\n"
    "#define ADD_SEED(K) a##K = a##K * 0.5f + seed;\n"
    "#define CLEAR(K) float16 a##K = 0;\n"
    "kernel void bare(global const float16 *from, global float16 *to, long reads, long writes,\n"
    "                 int rounds, int more)\n"
    "{\n"
    "    const long group = get_group_id(0), groups = get_num_groups(0);\n"
    "    const float16 seed = from[0];\n"
    "    EACH(CLEAR)\n"
    "    const long last = reads * (group + 1) / groups;\n"
    "    for (long i = reads * group / groups; i + 6 <= last; i += 6) {\n"
    "        EACH(LOAD)\n"
    "        for (int r = 0; r < rounds; r++) {\n"
    "            EACH(ADD)\n"
    "        }\n"
    "    }\n"
    "    for (int r = 0; r < more; r++) {\n"
    "        EACH(ADD_SEED)\n"
    "    }\n"
    "    const float16 sum = a0 + a1 + a2 + a3 + a4 + a5;\n"
    "    for (long i = writes * group / groups; i < writes * (group + 1) / groups; i++)\n"
    "        to[i] = sum;\n"
    "}\n";

/* ---- the calls ---- */

static bool enqueue(contender *c)
{
    bare_contender *b = (bare_contender *)c;
    const size_t local = 1;
    cl_event done;
    if (clEnqueueNDRangeKernel(b->session->queue, b->kernel, 1, NULL, &b->groups, &local, 0, NULL,
                               &done))
        return false;
    if (b->session->kiln->pocl)
        kiln_keepalive_note(b->session->kiln->pocl->keepalive, done, 0);
    clReleaseEvent(done);
    return true;
}

static bool finish(contender *c)
{
    const session *s = ((bare_contender *)c)->session;
    return kiln_finish(s->kiln, s->queue) == KILN_OK;
}

static bool read_result(contender *c, void *plain)
{
    (void)c;
    (void)plain;
    return false;
}

static void release(contender *c)
{
    bare_contender *b = (bare_contender *)c;
    if (b->kernel)
        clReleaseKernel(b->kernel);
    if (b->from)
        clReleaseMemObject(b->from);
    if (b->to)
        clReleaseMemObject(b->to);
    free(b);
}

static const contender_calls calls = {enqueue, finish, read_result, release};

/* ---- making one ---- */

static bool make_kernel(bare_contender *b)
{
    const char *source = text;
    cl_int code = CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(b->session->context, 1, &source, NULL, &code);
    if (!program || clBuildProgram(program, 1, &b->session->device, "", NULL, NULL))
        return false;
    b->kernel = clCreateKernel(program, "bare", &code);
    clReleaseProgram(program);
    return code == CL_SUCCESS;
}

static cl_mem make_vectors(const session *s, int64_t vectors)
{
    const float zero = 0;
    const size_t bytes = (size_t)(vectors + AT_ONCE) * LANES * sizeof zero;
    cl_mem m = clCreateBuffer(s->context, CL_MEM_READ_WRITE, bytes, NULL, NULL);
    if (m)
        clEnqueueFillBuffer(s->queue, m, &zero, sizeof zero, 0, bytes, 0, NULL, NULL);
    return m;
}

/* Rounds down everywhere: the kernel must not do more than a convolution. */
static bool set_arguments(bare_contender *b, const work *w, bool multiplies)
{
    int64_t vectors[2] = {0};
    for (const char *t = "xwy"; *t; t++)
        vectors[*t == w->to] += kiln_problem_bytes(&w->problem, *t, NULL) / (LANES * 4);
    const double rounds = multiplies ? w->useful_flops / (2.0 * LANES * AT_ONCE) : 0,
                 loads = (double)(vectors[0] / AT_ONCE);
    const cl_long reads = vectors[0], writes = vectors[1];
    const cl_int each = loads > 0 && rounds > loads ? (cl_int)(rounds / loads) : 1;
    const double rest = rounds - each * loads;
    const cl_int more = rest > 0 ? (cl_int)(rest / (double)b->groups) : 0;
    b->from = make_vectors(b->session, reads);
    b->to = make_vectors(b->session, writes);
    return b->from && b->to && !clSetKernelArg(b->kernel, 0, sizeof b->from, &b->from) &&
           !clSetKernelArg(b->kernel, 1, sizeof b->to, &b->to) &&
           !clSetKernelArg(b->kernel, 2, sizeof reads, &reads) &&
           !clSetKernelArg(b->kernel, 3, sizeof writes, &writes) &&
           !clSetKernelArg(b->kernel, 4, sizeof each, &each) &&
           !clSetKernelArg(b->kernel, 5, sizeof more, &more) &&
           clFinish(b->session->queue) == CL_SUCCESS;
}

contender *contender_bare(const session *s, const work *w, const rules *r, int groups, char *why)
{
    /* Winograd's algorithm needs fewer multiply-adds, with no least number. */
    const bool multiplies = r->algorithm == RULES_DIRECT || !work_is_winograd(&w->problem);
    bare_contender *b = calloc(1, sizeof *b);
    snprintf(why, KILN_ERROR_TEXT, "the bare kernel could not be made");
    if (!b)
        return NULL;
    *b = (bare_contender){.base = {.calls = &calls, .name = CONTENDER_BARE, .starts_only = true},
                          .session = s,
                          .groups = (size_t)groups};
    snprintf(b->base.detail, sizeof b->base.detail, "%d work-group%s%s", groups,
             groups == 1 ? "" : "s", multiplies ? "" : ", no multiply-adds");
    if (make_kernel(b) && set_arguments(b, w, multiplies))
        return &b->base;
    release(&b->base);
    return NULL;
}
