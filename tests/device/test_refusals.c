/* Each call of OpenCL that an operation's life makes is refused once: kiln gives an error or does
 * without, keeps no memory object and releases none of the caller's, and goes on afterwards. */
#include "driver/base/memory.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- an OpenCL that refuses ---- */

static int until_refusal;   /* so many calls, the refused one included; 0: none is refused */
static const char *refused; /* the name of that call; NULL: it has not come */

static bool refuses(const char *name)
{
    if (until_refusal == 0 || --until_refusal > 0)
        return false;
    refused = name;
    return true;
}

/* Defines a function of OpenCL's that returns a code, and one that makes an object. */
#define RETURNS(name, parameters, arguments)                                                       \
    cl_int name parameters                                                                         \
    {                                                                                              \
        cl_int(*real) parameters;                                                                  \
        *(void **)&real = dlsym(RTLD_NEXT, #name);                                                 \
        return refuses(#name) ? CL_OUT_OF_RESOURCES : real arguments;                              \
    }
#define MAKES(type, name, parameters, arguments)                                                   \
    type name parameters                                                                           \
    {                                                                                              \
        type(*real) parameters;                                                                    \
        *(void **)&real = dlsym(RTLD_NEXT, #name);                                                 \
        if (!refuses(#name))                                                                       \
            return real arguments;                                                                 \
        if (code)                                                                                  \
            *code = CL_OUT_OF_RESOURCES;                                                           \
        return NULL;                                                                               \
    }

MAKES(cl_mem, clCreateBuffer, (cl_context c, cl_mem_flags f, size_t s, void *h, cl_int *code),
      (c, f, s, h, code))
MAKES(cl_mem, clCreateSubBuffer,
      (cl_mem m, cl_mem_flags f, cl_buffer_create_type t, const void *r, cl_int *code),
      (m, f, t, r, code))
MAKES(cl_mem, clCreateImage,
      (cl_context c, cl_mem_flags f, const cl_image_format *t, const cl_image_desc *d, void *h,
       cl_int *code),
      (c, f, t, d, h, code))
MAKES(cl_program, clCreateProgramWithSource,
      (cl_context c, cl_uint n, const char **s, const size_t *l, cl_int *code), (c, n, s, l, code))
MAKES(cl_kernel, clCreateKernel, (cl_program p, const char *n, cl_int *code), (p, n, code))
RETURNS(clBuildProgram,
        (cl_program p, cl_uint n, const cl_device_id *d, const char *o,
         void(CL_CALLBACK *f)(cl_program, void *), void *u),
        (p, n, d, o, f, u))
RETURNS(clSetKernelArg, (cl_kernel k, cl_uint i, size_t s, const void *v), (k, i, s, v))
RETURNS(clRetainMemObject, (cl_mem m), (m))
RETURNS(clRetainEvent, (cl_event e), (e))
RETURNS(clGetMemObjectInfo, (cl_mem m, cl_mem_info w, size_t s, void *v, size_t *r),
        (m, w, s, v, r))
RETURNS(clGetImageInfo, (cl_mem m, cl_image_info w, size_t s, void *v, size_t *r), (m, w, s, v, r))
RETURNS(clGetEventInfo, (cl_event e, cl_event_info w, size_t s, void *v, size_t *r),
        (e, w, s, v, r))
RETURNS(clGetEventProfilingInfo, (cl_event e, cl_profiling_info w, size_t s, void *v, size_t *r),
        (e, w, s, v, r))
RETURNS(clGetCommandQueueInfo,
        (cl_command_queue q, cl_command_queue_info w, size_t s, void *v, size_t *r),
        (q, w, s, v, r))
RETURNS(clEnqueueNDRangeKernel,
        (cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g,
         const size_t *l, cl_uint n, const cl_event *w, cl_event *e),
        (q, k, d, o, g, l, n, w, e))
RETURNS(clEnqueueFillBuffer,
        (cl_command_queue q, cl_mem m, const void *p, size_t u, size_t o, size_t s, cl_uint n,
         const cl_event *w, cl_event *e),
        (q, m, p, u, o, s, n, w, e))
RETURNS(clWaitForEvents, (cl_uint n, const cl_event *e), (n, e))
RETURNS(clFlush, (cl_command_queue q), (q))
RETURNS(clFinish, (cl_command_queue q), (q))

/* ---- a life ---- */

enum { MOST_CALLS = 2000 };

typedef struct life {
    kiln_problem problem;
    const char *solver;
    kiln_op_info info;
    kiln_buffers buffers;
} life;

enum { BUFFERS = 5 };

static kiln_buffer *buffer_of(life *l, int i)
{
    kiln_buffers *b = &l->buffers;
    kiln_buffer *const all[BUFFERS] = {&b->x, &b->w, &b->y, &b->packed, &b->workspace};
    return all[i];
}

/* Makes what the operation asks for. A buffer lies behind an offset, which takes a sub-buffer. */
static void make(life *l, const support_device *d)
{
    const kiln_problem *p = &l->info.problem;
    memory_kind kind[] = {{0},
                          {0},
                          {0},
                          {(size_t)l->info.packed_size, l->info.packed_width, l->info.packed_height,
                           l->info.packed_type},
                          memory_of_buffer((size_t)l->info.workspace_size)};
    for (int i = 0; i < 3; i++) {
        kiln_storage storage;
        ck_assert(kiln_problem_storage(p, "xwy"[i], &storage, NULL));
        kind[i] = memory_of(&storage, KILN_F32);
    }
    for (int i = 0; i < BUFFERS; i++) {
        cl_int code = CL_SUCCESS;
        kiln_buffer *b = buffer_of(l, i);
        if (!kind[i].bytes)
            continue;
        b->offset = kind[i].width ? 0 : d->align;
        kind[i].bytes += b->offset;
        b->mem = memory_make(d->context, &kind[i], &code);
        ck_assert_int_eq(code, CL_SUCCESS);
    }
}

static kiln_status use(life *l, const support_device *d, kiln_op *op)
{
    double ms;
    kiln_buffers unpacked = l->buffers;
    unpacked.packed.mem = NULL;
    kiln_status status = KILN_OK;
    if (l->info.packed_size > 0)
        status = kiln_op_pack(op, d->queue, &l->buffers, 0, NULL, NULL);
    for (int i = 0; i < 3 && !status; i++)
        status = kiln_op_enqueue(op, d->queue, &l->buffers, 0, NULL, NULL);
    if (!status)
        status = kiln_op_enqueue(op, d->queue, &unpacked, 0, NULL, NULL);
    if (!status)
        status = kiln_op_time(op, d->queue, &l->buffers, &ms, NULL);
    return status ? status : kiln_finish(d->kiln, d->queue);
}

static kiln_status live(life *l, const support_device *d)
{
    const kiln_choice choice = {.solver = l->solver, .ignore_rows = 1};
    kiln_op *op = NULL;
    kiln_status status = kiln_conv_create(d->kiln, &l->problem, &choice, &op);
    if (!status && l->info.y_size == 0) {
        kiln_op_describe(op, &l->info);
        make(l, d);
    }
    if (!status)
        status = use(l, d, op);
    kiln_op_release(op);
    return status;
}

/* A thread of PoCL may still hold a buffer for a moment when the command that used it has ended. */
static cl_uint references(cl_mem mem)
{
    enum { LOOKS = 5000 };
    cl_uint count = 0;
    for (int i = 0; i < LOOKS && count != 1; i++) {
        if (i > 0)
            usleep(1000);
        clGetMemObjectInfo(mem, CL_MEM_REFERENCE_COUNT, sizeof count, &count, NULL);
    }
    return count;
}

static void check_references(life *l, int call)
{
    for (int i = 0; i < BUFFERS; i++)
        if (buffer_of(l, i)->mem) {
            const cl_uint count = references(buffer_of(l, i)->mem);
            ck_assert_msg(count == 1, "buffer %d has %u references after call %d, %s, was refused",
                          i, count, call, refused);
        }
}

static void check(const char *solver, const kiln_problem *p)
{
    const support_device *d = support_open();
    life l = {.problem = *p, .solver = solver};
    int errors = 0, call = 1;
    ck_assert_msg(live(&l, d) == KILN_OK, "%s: %s", solver, kiln_last_error());
    for (refused = ""; refused && call < MOST_CALLS; call++) {
        refused = NULL;
        until_refusal = call;
        errors += live(&l, d) != KILN_OK;
        until_refusal = 0;
        clFinish(d->queue);
        check_references(&l, call);
    }
    ck_assert_msg(errors > 10 && call < MOST_CALLS, "%d errors, %d calls", errors, call);
    ck_assert_msg(live(&l, d) == KILN_OK, "%s: %s", solver, kiln_last_error());
    for (int i = 0; i < BUFFERS; i++)
        if (buffer_of(&l, i)->mem)
            clReleaseMemObject(buffer_of(&l, i)->mem);
}

static kiln_problem problem(const char *layout)
{
    kiln_problem p = {.batch = 1,
                      .in_channels = 4,
                      .out_channels = 16,
                      .input = {6, 6},
                      .filter = {3, 3},
                      .pad_begin = {1, 1},
                      .pad_end = {1, 1}};
    snprintf(p.x_layout, sizeof p.x_layout, "%s", layout);
    snprintf(p.y_layout, sizeof p.y_layout, "%s", layout);
    return p;
}

START_TEST(an_operation_with_a_workspace)
{
    const kiln_problem p = problem("NCHW");
    check("direct", &p);
}
END_TEST

START_TEST(an_operation_with_images)
{
    const kiln_problem p = problem("IMG_CHANNEL_MAJOR");
    cl_bool images = CL_FALSE;
    clGetDeviceInfo(support_find_device(), CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL);
    if (images)
        check("winograd_image", &p);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("refusals");
    TCase *c = tcase_create("refusals");
    tcase_add_test(c, an_operation_with_a_workspace);
    tcase_add_test(c, an_operation_with_images);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
