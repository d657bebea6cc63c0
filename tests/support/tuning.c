/* Makes the problem that is searched, and records the trials. */
#include "tuning.h"

#include "support.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    N = 1,
    C = 64,
    K = 32,
    SIZE = 8,
    X = N * C * SIZE * SIZE,
    W = K * C,
    Y = N * K * SIZE * SIZE
};
_Static_assert((int)TUNING_RESULTS == (int)Y, "y has other elements");

const kiln_problem tuning_problem = {
    .batch = N, .in_channels = C, .out_channels = K, .input = {SIZE, SIZE}, .filter = {1, 1}};

tuning_bed tuning;
static float expected[Y];

static cl_mem make_buffer(size_t count, const float *data)
{
    cl_int code;
    cl_mem mem =
        clCreateBuffer(tuning.context, CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0),
                       count * sizeof *data, (void *)data, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    return mem;
}

/* Fills with small integers, so that every order of summation gives the same floats. */
static void make_tensors(void)
{
    static float x[X], w[W];
    for (int i = 0; i < X; i++)
        x[i] = (float)(i * 7 % 11 - 5);
    for (int i = 0; i < W; i++)
        w[i] = (float)(i * 5 % 7 - 3);
    for (int k1 = 0; k1 < K; k1++)
        for (int p = 0; p < SIZE * SIZE; p++) {
            float sum = 0;
            for (int c = 0; c < C; c++)
                sum += w[k1 * C + c] * x[c * SIZE * SIZE + p];
            expected[k1 * SIZE * SIZE + p] = sum;
        }
    tuning.buffers = (kiln_buffers){
        .x = {make_buffer(X, x), 0}, .w = {make_buffer(W, w), 0}, .y = {make_buffer(Y, NULL), 0}};
}

kiln *tuning_open(const char *rows, const char *templates)
{
    kiln *opened;
    const kiln_settings settings = {
        .rows_file = rows, .cache_dir = "off", .shipped_dir = "off", .template_dir = templates};
    ck_assert_int_eq(kiln_open(&opened, tuning.context, tuning.device, &settings), KILN_OK);
    return opened;
}

void tuning_set_up(void)
{
    cl_int code;
    tuning.device = support_find_device();
    tuning.context = clCreateContext(NULL, 1, &tuning.device, NULL, NULL, &code);
    tuning.queue =
        clCreateCommandQueue(tuning.context, tuning.device, CL_QUEUE_PROFILING_ENABLE, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    make_tensors();
    strcpy(tuning.folder, "/tmp/kiln_tune_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(tuning.folder));
    snprintf(tuning.rows_file, sizeof tuning.rows_file, "%s/rows.yaml", tuning.folder);
    snprintf(tuning.types_file, sizeof tuning.types_file, "%s/types.cl", tuning.folder);
    tuning.kiln = tuning_open(tuning.rows_file, NULL);
}

void tuning_tear_down(void)
{
    kiln_close(tuning.kiln);
    clReleaseMemObject(tuning.buffers.x.mem);
    clReleaseMemObject(tuning.buffers.w.mem);
    clReleaseMemObject(tuning.buffers.y.mem);
    clReleaseCommandQueue(tuning.queue);
    clReleaseContext(tuning.context);
    unlink(tuning.rows_file);
    unlink(tuning.types_file);
    rmdir(tuning.folder);
}

static int verify(void *user, const kiln_op *op, double *error)
{
    *error = 0.5;
    tuning_record *r = user;
    float y[Y];
    kiln_op_info info;
    kiln_op_describe(op, &info);
    ck_assert_int_eq(clEnqueueReadBuffer(tuning.queue, tuning.buffers.y.mem, CL_TRUE, 0, sizeof y,
                                         y, 0, NULL, NULL),
                     CL_SUCCESS);
    for (int i = 0; i < Y; i++)
        r->poison += isnan(y[i]) != 0;
    r->verified++;
    if (r->accept)
        return strcmp(info.config, r->accept) != 0;
    return memcmp(y, expected, sizeof y) != 0;
}

static int progress(void *user, const kiln_trial *t)
{
    tuning_record *r = user;
    ck_assert_int_eq(t->index, r->trials);
    ck_assert_int_lt(t->index, t->count);
    r->verdicts[t->verdict]++;
    if (t->verdict == KILN_TRIAL_OK || t->verdict == KILN_TRIAL_SLOW)
        ck_assert_double_gt(t->ms, 0);
    if (r->trials < 64) {
        snprintf(r->configs[r->trials], sizeof r->configs[0], "%s", t->config);
        snprintf(r->solvers[r->trials], sizeof r->solvers[0], "%s", t->solver);
    }
    return ++r->trials == r->stop_after;
}

kiln_tune_options tuning_options(tuning_record *r, int64_t max_trials)
{
    return (kiln_tune_options){.max_trials = max_trials,
                               .runs = 3,
                               .keep = 1,
                               .progress = progress,
                               .verify = verify,
                               .user = r};
}

kiln_status tuning_run(kiln *k, const kiln_tune_options *o, kiln_trial *best)
{
    return kiln_tune(k, &tuning_problem, tuning.queue, &tuning.buffers, o, best);
}

void tuning_check_used(kiln *opened, const char *solver, const kiln_trial *best)
{
    const kiln_choice choice = {.solver = solver};
    kiln_op *op;
    kiln_op_info info;
    ck_assert_int_eq(kiln_conv_create(opened, &tuning_problem, &choice, &op), KILN_OK);
    kiln_op_describe(op, &info);
    ck_assert_str_eq(info.solver, best->solver);
    ck_assert_str_eq(info.config, best->config);
    ck_assert_int_eq(info.origin, KILN_ORIGIN_USER_ROW);
    kiln_op_release(op);
}
