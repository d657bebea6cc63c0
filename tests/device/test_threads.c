/* Several threads at once on one kiln and on one operation. */
#include "driver/reference/host.h"
#include "driver/reference/reference.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 6, ROUNDS = 8, TENSORS = 3, MAX_PROBLEMS = 4 };

/* One thread's tensors of a problem, full of its own small integers, and the result they must give.
 * Made and checked without OpenMP, whose threads ThreadSanitizer does not understand. */
typedef struct tensors {
    kiln_problem problem;
    int to;
    size_t bytes[TENSORS], slack; /* slack: where the tensors start in their buffers */
    void *data[TENSORS], *got;    /* data[to]: what must come */
    cl_mem mem[TENSORS], workspace;
    cl_command_queue queue;
} tensors;

/* Plain sums of integers are exact in any order; Winograd's are not. */
static const kiln_problem problems[MAX_PROBLEMS] = {
    {.math = KILN_MATH_EXACT,
     .batch = 2,
     .in_channels = 5,
     .out_channels = 7,
     .input = {9, 6},
     .filter = {3, 3},
     .pad_begin = {1, 1},
     .pad_end = {1, 1}},
    {.direction = KILN_BACKWARD_DATA,
     .batch = 2,
     .in_channels = 6,
     .out_channels = 4,
     .groups = 2,
     .input = {7, 8},
     .filter = {3, 2},
     .stride = {2, 1}},
    {.math = KILN_MATH_EXACT,
     .direction = KILN_BACKWARD_WEIGHTS,
     .batch = 3,
     .in_channels = 4,
     .out_channels = 5,
     .input = {6, 7},
     .filter = {3, 3}},
    {.batch = 2, .in_channels = 8, .out_channels = 8, .input = {4, 6}, .filter = {1, 1}},
};

static void compute_expected(tensors *t)
{
    const kiln_problem *p = &t->problem;
    const reference_tensors r = {.x = t->data[0], .w = t->data[1], .y = t->data[2]};
    for (int64_t i = 0; i < reference_count(p); i++) {
        double magnitude, sum = reference_sum(p, &r, i, &magnitude);
        ((float *)t->data[t->to])[i] = (float)reference_finish(p, &r, i, sum, &magnitude);
    }
}

static void make_tensors(tensors *t, const support_device *d, const kiln_problem *problem,
                         uint64_t seed)
{
    static const int to[] = {2, 0, 1};
    *t = (tensors){.problem = *problem, .slack = seed % 2 ? d->align : 0};
    ck_assert_int_eq(kiln_problem_check(&t->problem, NULL), KILN_OK);
    t->to = to[problem->direction];
    for (int i = 0; i < TENSORS; i++) {
        const int64_t count = kiln_problem_count(&t->problem, "xwy"[i]);
        t->bytes[i] = (size_t)count * sizeof(float);
        t->data[i] = malloc(t->bytes[i]);
        host_fill_tensor(HOST_FILL_INT, seed, i, KILN_F32, reference_terms(&t->problem), t->data[i],
                         count);
    }
    compute_expected(t);
    t->got = malloc(t->bytes[t->to]);
}

/* What a thread makes for itself. */
static bool open_tensors(tensors *t, const support_device *d)
{
    cl_int code;
    t->queue = clCreateCommandQueue(d->context, d->device, 0, &code);
    for (int i = 0; i < TENSORS && code == CL_SUCCESS; i++) {
        t->mem[i] =
            clCreateBuffer(d->context, CL_MEM_READ_WRITE, t->slack + t->bytes[i], NULL, &code);
        if (code == CL_SUCCESS)
            code = clEnqueueWriteBuffer(t->queue, t->mem[i], CL_TRUE, t->slack, t->bytes[i],
                                        t->data[i], 0, NULL, NULL);
    }
    return code == CL_SUCCESS;
}

static void close_tensors(tensors *t)
{
    for (int i = 0; i < TENSORS; i++) {
        clReleaseMemObject(t->mem[i]);
        free(t->data[i]);
    }
    if (t->workspace)
        clReleaseMemObject(t->workspace);
    free(t->got);
    clReleaseCommandQueue(t->queue);
}

/* One poisoned destination, one enqueue, one look at the result. */
static bool run(tensors *t, const support_device *d, kiln_op *op)
{
    kiln_op_info info;
    cl_int code = CL_SUCCESS;
    kiln_op_describe(op, &info);
    if (info.workspace_size > 0 && !t->workspace)
        t->workspace =
            clCreateBuffer(d->context, CL_MEM_READ_WRITE, (size_t)info.workspace_size, NULL, &code);
    const kiln_buffers b = {.x = {t->mem[0], t->slack},
                            .w = {t->mem[1], t->slack},
                            .y = {t->mem[2], t->slack},
                            .workspace = {t->workspace, 0}};
    memset(t->got, 0xff, t->bytes[t->to]);
    if (code == CL_SUCCESS)
        code = clEnqueueWriteBuffer(t->queue, t->mem[t->to], CL_TRUE, t->slack, t->bytes[t->to],
                                    t->got, 0, NULL, NULL);
    if (code != CL_SUCCESS || kiln_op_enqueue(op, t->queue, &b, 0, NULL, NULL) != KILN_OK)
        return false;
    code = clEnqueueReadBuffer(t->queue, t->mem[t->to], CL_TRUE, t->slack, t->bytes[t->to], t->got,
                               0, NULL, NULL);
    return code == CL_SUCCESS && memcmp(t->got, t->data[t->to], t->bytes[t->to]) == 0;
}

typedef struct worker {
    const support_device *device;
    kiln *kiln;
    kiln_op *op; /* NULL: it makes its own */
    tensors tensors[MAX_PROBLEMS];
    int count, index;
    char why[SUPPORT_TEXT]; /* "": all went well */
} worker;

static void complain(worker *w, const tensors *t, const char *what)
{
    char key[KILN_KEY_TEXT];
    kiln_problem_text(&t->problem, key, sizeof key);
    snprintf(w->why, sizeof w->why, "thread %d, %.100s: %s %.300s", w->index, key, what,
             kiln_last_error());
}

/* ---- one operation ---- */

static void *enqueue_often(void *user)
{
    worker *w = user;
    tensors *t = &w->tensors[0];
    bool right = open_tensors(t, w->device);
    for (int i = 0; i < ROUNDS && right; i++)
        right = run(t, w->device, w->op);
    if (!right)
        complain(w, t, "a wrong result");
    return NULL;
}

/* ---- one kiln ---- */

/* Each problem in turn, every thread beginning with another. */
static void *create_and_run(void *user)
{
    worker *w = user;
    for (int i = 0; i < w->count && !*w->why; i++) {
        tensors *t = &w->tensors[(i + w->index) % w->count];
        kiln_op *op = NULL;
        if (!open_tensors(t, w->device))
            complain(w, t, "no tensors");
        else if (kiln_conv_create(w->kiln, &t->problem, NULL, &op) != KILN_OK)
            complain(w, t, "not created:");
        else if (!run(t, w->device, op))
            complain(w, t, "a wrong result");
        else if (!run(t, w->device, op))
            complain(w, t, "a wrong second result");
        kiln_op_release(op);
    }
    return NULL;
}

static void run_workers(worker *w, void *(*work)(void *))
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &w[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        ck_assert_str_eq(w[i].why, "");
}

static kiln *open_kiln(const support_device *d)
{
    const kiln_settings settings = {.cache_dir = "off", .rows_file = "off", .shipped_dir = "off"};
    kiln *k;
    ck_assert_int_eq(kiln_open(&k, d->context, d->device, &settings), KILN_OK);
    return k;
}

START_TEST(one_op_from_many_threads)
{
    static worker workers[THREADS];
    const support_device *d = support_open();
    kiln *k = open_kiln(d);
    kiln_op *op;
    ck_assert_int_eq(kiln_conv_create(k, &problems[_i], NULL, &op), KILN_OK);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.device = d, .kiln = k, .op = op, .count = 1, .index = i};
        make_tensors(&workers[i].tensors[0], d, &problems[_i], (uint64_t)i + 1);
    }
    run_workers(workers, enqueue_often);
    for (int i = 0; i < THREADS; i++)
        close_tensors(&workers[i].tensors[0]);
    kiln_op_release(op);
    kiln_close(k);
}
END_TEST

START_TEST(one_kiln_from_many_threads)
{
    static worker workers[THREADS];
    const support_device *d = support_open();
    kiln *k = open_kiln(d);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.device = d, .kiln = k, .count = MAX_PROBLEMS, .index = i};
        for (int j = 0; j < MAX_PROBLEMS; j++)
            make_tensors(&workers[i].tensors[j], d, &problems[j], (uint64_t)(10 * i + j));
    }
    run_workers(workers, create_and_run);
    for (int i = 0; i < THREADS; i++)
        for (int j = 0; j < MAX_PROBLEMS; j++)
            close_tensors(&workers[i].tensors[j]);
    kiln_close(k);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("threads");
    TCase *c = tcase_create("threads");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, one_op_from_many_threads, 0, MAX_PROBLEMS);
    tcase_add_test(c, one_kiln_from_many_threads);
    suite_add_tcase(s, c);
    return support_run_apart(s);
}
