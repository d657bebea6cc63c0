/* Nets against plain loops in double: each node, and the results of nets that keep nothing else;
 * many runs with the same bits, two nets on two queues, other sizes, stand-ins, memory that is
 * lent. */
#include "driver/layout/layout_host.h"
#include "runtime/kiln/kiln_internal.h"
#include "runtime/pocl/command_batch.h"
#include "runtime/pocl/pocl_internal.h"
#include "support/net_case.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void (*const cases[])(net_case *) = {net_mobile, net_u, net_branches};
enum { CASES = sizeof cases / sizeof *cases };

/* A net with buffers for its inputs and outputs. */
typedef struct fixture {
    net_case c;
    kiln_net *net;
    kiln_buffer in[4], out[NET_NODES];
    int out_node[NET_NODES], inputs, outputs;
    float *got[NET_NODES]; /* cells of the outputs after a run */
    size_t bytes[NET_NODES];
} fixture;

#define OK(call) ck_assert_msg((call) == KILN_OK, "%s: %s", #call, kiln_last_error())

static cl_mem make_buffer(const void *data, size_t bytes)
{
    cl_int code;
    cl_mem m = clCreateBuffer(support_open()->context, data ? CL_MEM_COPY_HOST_PTR : 0, bytes,
                              (void *)data, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    return m;
}

static void storage_of(const fixture *f, int node, kiln_storage *s)
{
    kiln_form form;
    kiln_layout layout;
    char why[KILN_ERROR_TEXT];
    OK(kiln_net_tensor(f->net, node, &form, NULL));
    const int64_t dim[4] = {form.batch, form.channels, form.size[0], form.size[1]};
    ck_assert_msg(kiln_layout_parse(&layout, form.layout, "NCHW", why) &&
                      kiln_storage_make(s, &layout, dim, form.type, why),
                  "%s", why);
}

static void make_buffers(fixture *f)
{
    f->inputs = f->outputs = 0;
    for (int i = 0; i < f->c.count; i++) {
        kiln_storage s;
        storage_of(f, i + 1, &s);
        const size_t bytes = (size_t)s.cells * sizeof(float);
        if (f->c.node[i].kind == KILN_NODE_INPUT)
            f->in[f->inputs++].mem = make_buffer(f->c.input[i], bytes);
        else if (f->c.node[i].kept || f->c.keep_all) {
            f->bytes[f->outputs] = bytes;
            f->got[f->outputs] = malloc(bytes);
            f->out_node[f->outputs] = i;
            f->out[f->outputs++].mem = make_buffer(NULL, bytes);
        }
    }
}

static void free_buffers(fixture *f)
{
    for (int i = 0; i < f->inputs; i++)
        clReleaseMemObject(f->in[i].mem);
    for (int i = 0; i < f->outputs; i++) {
        clReleaseMemObject(f->out[i].mem);
        free(f->got[i]);
    }
}

/* Fills the outputs with what no result is. */
static void poison(const fixture *f, cl_command_queue queue)
{
    const uint32_t nan = 0x7fc0dead;
    for (int i = 0; i < f->outputs; i++)
        ck_assert_int_eq(clEnqueueFillBuffer(queue, f->out[i].mem, &nan, sizeof nan, 0, f->bytes[i],
                                             0, NULL, NULL),
                         CL_SUCCESS);
}

static void run(fixture *f, cl_command_queue queue)
{
    poison(f, queue);
    OK(kiln_net_enqueue(f->net, queue, f->in, f->out, 0, NULL, NULL));
}

static void read_back(fixture *f, cl_command_queue queue)
{
    for (int i = 0; i < f->outputs; i++)
        ck_assert_int_eq(clEnqueueReadBuffer(queue, f->out[i].mem, CL_TRUE, 0, f->bytes[i],
                                             f->got[i], 0, NULL, NULL),
                         CL_SUCCESS);
}

/* Compares an output with its values, and its padding with zeros. */
static void compare_one(const fixture *f, int output)
{
    const int node = f->out_node[output];
    const double *wanted = f->c.value[node];
    kiln_storage s;
    double largest = 1e-3, worst = 0;
    storage_of(f, node + 1, &s);
    const int64_t count = kiln_storage_elements(&s);
    float *plain = malloc((size_t)count * sizeof *plain);
    ck_assert_int_eq(layout_host_load(&s, KILN_F32, f->got[output], plain), 0);
    for (int64_t e = 0; e < count; e++) {
        const double error = fabs(plain[e] - wanted[e]);
        largest = fmax(largest, fabs(wanted[e]));
        worst = isnan(error) ? INFINITY : fmax(worst, error);
    }
    free(plain);
    ck_assert_msg(worst <= 2e-5 * largest, "node %d: error %g of %g", node + 1, worst, largest);
}

static void compare(fixture *f, cl_command_queue queue)
{
    read_back(f, queue);
    for (int i = 0; i < f->outputs; i++)
        compare_one(f, i);
}

static void open_net(fixture *f, kiln *k, void (*make)(net_case *), bool keep_all,
                     const kiln_net_options *options)
{
    *f = (fixture){.c.keep_all = keep_all};
    make(&f->c);
    net_compute(&f->c, 0, 0);
    OK(kiln_net_create(k, f->c.graph, options, &f->net));
}

static void start_net(fixture *f, cl_command_queue queue)
{
    OK(kiln_net_pack(f->net, queue));
    make_buffers(f);
}

static void close_net(fixture *f)
{
    kiln_net_release(f->net);
    free_buffers(f);
    net_free(&f->c);
}

static cl_command_queue plain_queue(void)
{
    cl_int code;
    const support_device *d = support_open();
    cl_command_queue queue = clCreateCommandQueue(d->context, d->device, 0, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    return queue;
}

/* ---- results ---- */

START_TEST(every_node_is_right)
{
    fixture f;
    cl_command_queue queue = plain_queue();
    open_net(&f, support_open()->kiln, cases[_i], true, NULL);
    start_net(&f, queue);
    run(&f, queue);
    compare(&f, queue);
    close_net(&f);
    clReleaseCommandQueue(queue);
}
END_TEST

START_TEST(a_hundred_runs_are_equal)
{
    enum { RUNS = 100 };
    fixture f;
    kiln_net_info info;
    cl_command_queue queue = plain_queue();
    open_net(&f, support_open()->kiln, cases[_i], false, NULL);
    start_net(&f, queue);
    OK(kiln_net_describe(f.net, &info));
    ck_assert_int_eq(info.nodes, f.c.count);
    ck_assert_int_eq(info.outputs, f.outputs);
    run(&f, queue);
    compare(&f, queue);
    float *first[NET_NODES];
    for (int i = 0; i < f.outputs; i++) {
        first[i] = malloc(f.bytes[i]);
        memcpy(first[i], f.got[i], f.bytes[i]);
    }
    for (int n = 0; n < RUNS; n++) {
        run(&f, queue);
        read_back(&f, queue);
        for (int i = 0; i < f.outputs; i++)
            ck_assert_msg(memcmp(first[i], f.got[i], f.bytes[i]) == 0, "run %d, output %d", n, i);
    }
    for (int i = 0; i < f.outputs; i++)
        free(first[i]);
    close_net(&f);
    clReleaseCommandQueue(queue);
}
END_TEST

START_TEST(two_nets_on_two_queues)
{
    fixture f[2];
    cl_command_queue queue[2];
    for (int i = 0; i < 2; i++) {
        queue[i] = plain_queue();
        open_net(&f[i], support_open()->kiln, cases[i], false, NULL);
        start_net(&f[i], queue[i]);
    }
    for (int n = 0; n < 20; n++) {
        for (int i = 0; i < 2; i++)
            run(&f[i], queue[i]);
        for (int i = 0; i < 2; i++)
            compare(&f[i], queue[i]);
    }
    /* The same net in turns: its runs share memory and must not overlap. */
    for (int n = 0; n < 20; n++)
        run(&f[0], queue[n % 2]);
    clFinish(queue[0]);
    compare(&f[0], queue[1]);
    for (int i = 0; i < 2; i++) {
        close_net(&f[i]);
        clReleaseCommandQueue(queue[i]);
    }
}
END_TEST

START_TEST(it_waits_and_gives_an_event)
{
    fixture f;
    cl_int code;
    cl_event given = clCreateUserEvent(support_open()->context, &code), done = NULL;
    cl_command_queue queue = plain_queue();
    open_net(&f, support_open()->kiln, net_mobile, false, NULL);
    start_net(&f, queue);
    poison(&f, queue);
    OK(kiln_net_enqueue(f.net, queue, f.in, f.out, 1, &given, &done));
    clSetUserEventStatus(given, CL_COMPLETE);
    ck_assert_int_eq(clWaitForEvents(1, &done), CL_SUCCESS);
    compare(&f, queue);
    clReleaseEvent(given);
    clReleaseEvent(done);
    close_net(&f);
    clReleaseCommandQueue(queue);
}
END_TEST

/* Two images in turns, for which nobody waits: each result is that of its image. */
static void take_turns(fixture *f, cl_command_queue queue, int rounds)
{
    const size_t bytes = f->bytes[0], image = 4 * (size_t)f->c.form[0].channels *
                                              (size_t)(f->c.form[0].size[0] * f->c.form[0].size[1]);
    float *other = malloc(image), *want[2] = {malloc(bytes), malloc(bytes)}, *got = malloc(bytes);
    for (size_t i = 0; i < image / 4; i++)
        other[i] = -f->c.input[0][i];
    const kiln_buffer in[2] = {f->in[0], {make_buffer(other, image), 0}};
    cl_mem own = f->out[0].mem, result[2] = {own, make_buffer(NULL, bytes)};
    for (int n = -1; n < rounds; n++) {
        for (int i = 0; i < 2; i++) {
            f->out[0].mem = result[i];
            OK(kiln_net_enqueue(f->net, queue, &in[i], f->out, 0, NULL, NULL));
            if (n < 0) /* alone */
                clFinish(queue);
        }
        for (int i = 0; i < 2; i++) {
            float *to = n < 0 ? want[i] : got;
            clEnqueueReadBuffer(queue, result[i], CL_TRUE, 0, bytes, to, 0, NULL, NULL);
            ck_assert_msg(memcmp(to, want[i], bytes) == 0, "round %d, image %d", n, i);
        }
    }
    ck_assert(memcmp(want[0], want[1], bytes) != 0);
    f->out[0].mem = own;
    clReleaseMemObject(in[1].mem);
    clReleaseMemObject(result[1]);
    free(other);
    free(want[0]);
    free(want[1]);
    free(got);
}

/* A net keeps the promises for its own operations: they share commands under PoCL although nobody
 * promised anything. */
START_TEST(operations_share_commands)
{
    fixture f;
    const support_device *d = support_open();
    cl_command_queue queue = plain_queue();
    open_net(&f, d->kiln, cases[_i], false, NULL);
    start_net(&f, queue);
    kiln_pocl *pocl = d->kiln->pocl;
    const uint64_t before = pocl ? kiln_command_batch_count(pocl->batch) : 0;
    run(&f, queue);
    compare(&f, queue);
    take_turns(&f, queue, 100);
    if (d->kiln->facts.compute_units <= 16 && kiln_device_is_pocl(&d->kiln->facts))
        ck_assert_uint_gt(kiln_command_batch_count(pocl->batch), before);
    close_net(&f);
    clReleaseCommandQueue(queue);
}
END_TEST

/* ---- other sizes, stand-ins, memory ---- */

START_TEST(other_sizes)
{
    fixture f;
    cl_command_queue queue = plain_queue();
    open_net(&f, support_open()->kiln, cases[_i], false, NULL);
    start_net(&f, queue);
    run(&f, queue);
    compare(&f, queue);
    const int64_t sizes[1][KILN_MAX_RANK] = {{24, 24}};
    int ready = 0;
    free_buffers(&f);
    net_compute(&f.c, 2, 24);
    OK(kiln_net_resize(f.net, queue, 2, sizes));
    make_buffers(&f);
    run(&f, queue); /* stand-ins, or already what is compiled */
    compare(&f, queue);
    OK(kiln_net_warm(f.net));
    OK(kiln_net_ready(f.net, &ready));
    ck_assert_int_eq(ready, 1);
    run(&f, queue);
    compare(&f, queue);
    const int64_t wrong[1][KILN_MAX_RANK] = {{0, 5}};
    ck_assert_int_eq(kiln_net_resize(f.net, queue, 0, wrong), KILN_INVALID);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "node 1"));
    run(&f, queue); /* as before */
    compare(&f, queue);
    close_net(&f);
    clReleaseCommandQueue(queue);
}
END_TEST

static void count_call(void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
}

START_TEST(stand_ins_run_first)
{
    const support_device *d = support_open();
    const kiln_settings settings = {.rows_file = "off", .first_use = KILN_FIRST_QUICK};
    atomic_int calls = 0;
    const kiln_net_options options = {.ready = count_call, .user = &calls};
    fixture f;
    kiln *k;
    int ready = 0;
    cl_command_queue queue = plain_queue();
    OK(kiln_open(&k, d->context, d->device, &settings));
    open_net(&f, k, net_mobile, false, &options);
    start_net(&f, queue);
    run(&f, queue);
    compare(&f, queue);
    OK(kiln_net_warm(f.net));
    OK(kiln_net_ready(f.net, &ready));
    ck_assert_int_eq(ready, 1);
    ck_assert_int_eq(atomic_load(&calls), 1);
    for (int n = 0; n < 3; n++)
        run(&f, queue);
    compare(&f, queue);
    close_net(&f);
    kiln_close(k);
    clReleaseCommandQueue(queue);
}
END_TEST

START_TEST(memory_is_lent)
{
    fixture f;
    kiln_net_info info;
    cl_command_queue queue = plain_queue();
    open_net(&f, support_open()->kiln, net_u, false, NULL);
    OK(kiln_net_describe(f.net, &info));
    kiln_buffer arena = {make_buffer(NULL, (size_t)info.arena_size - 1), 0}, none = {NULL, 0};
    ck_assert_int_eq(kiln_net_lend(f.net, arena, none), KILN_INVALID);
    clReleaseMemObject(arena.mem);
    const size_t align = support_open()->align;
    arena = (kiln_buffer){make_buffer(NULL, (size_t)info.arena_size + align), align};
    OK(kiln_net_lend(f.net, arena, none));
    start_net(&f, queue);
    run(&f, queue);
    compare(&f, queue);
    ck_assert_int_eq(kiln_net_lend(f.net, arena, none), KILN_INVALID); /* too late */
    close_net(&f);
    clReleaseMemObject(arena.mem);
    clReleaseCommandQueue(queue);
}
END_TEST

/* Weights come from a file, at any offset; a file that ends too soon is told. */
START_TEST(weights_in_a_file)
{
    char name[] = "kiln-net-XXXXXX";
    const float w[4] = {1, 2, 3, 4}, x[2] = {10, 100};
    float y[2];
    FILE *file = fdopen(mkstemp(name), "wb");
    fwrite("skip", 1, 4, file);
    fwrite(w, sizeof *w, 4, file);
    fclose(file);
    for (int64_t offset = 4; offset <= 8; offset += 4) {
        kiln_graph *g = kiln_graph_new();
        kiln_net *net;
        const int image =
            kiln_graph_add(g, &(kiln_node){.kind = KILN_NODE_INPUT,
                                           .form = {.batch = 1, .channels = 2, .size = {1, 1}}});
        kiln_graph_add(g, &(kiln_node){.name = "only",
                                       .from = {image},
                                       .kept = 1,
                                       .problem = {.out_channels = 2, .filter = {1, 1}},
                                       .w = {.file = name, .offset = offset}});
        cl_command_queue queue = plain_queue();
        OK(kiln_net_create(support_open()->kiln, g, NULL, &net));
        const kiln_status status = kiln_net_pack(net, queue);
        ck_assert_int_eq(status, offset == 4 ? KILN_OK : KILN_FILE);
        const kiln_buffer in = {make_buffer(x, sizeof x), 0},
                          out = {make_buffer(NULL, sizeof y), 0};
        if (status == KILN_OK) {
            OK(kiln_net_enqueue(net, queue, &in, &out, 0, NULL, NULL));
            clEnqueueReadBuffer(queue, out.mem, CL_TRUE, 0, sizeof y, y, 0, NULL, NULL);
            ck_assert(y[0] == 210 && y[1] == 430);
        } else {
            ck_assert_msg(strstr(kiln_last_error(), "node 2 (only)") &&
                              strstr(kiln_last_error(), "12 bytes behind offset 8"),
                          "%s", kiln_last_error());
            ck_assert_int_eq(kiln_net_enqueue(net, queue, &in, &out, 0, NULL, NULL), KILN_INVALID);
        }
        clReleaseMemObject(in.mem);
        clReleaseMemObject(out.mem);
        kiln_net_release(net);
        kiln_graph_release(g);
        clReleaseCommandQueue(queue);
    }
    remove(name);
}
END_TEST

/* Bytes with scales and zero points in buffers: y = (x - 3) * w * scale[k] + 5, and a max pool. */
START_TEST(quantised_nodes)
{
    enum { C = 16, SIDE = 4 };
    const int32_t x_zero = 3, y_zero = 5;
    static uint8_t x[C * SIDE * SIDE], y[C];
    static int8_t w[C * C];
    float scales[C];
    for (int i = 0; i < C * SIDE * SIDE; i++)
        x[i] = (uint8_t)(i * 7 % 40);
    for (int k = 0; k < C; k++) {
        scales[k] = k % 2 ? 0.5f : 1;
        w[k * C + k] = 2;
    }
    kiln_graph *g = kiln_graph_new();
    kiln_net *net;
    cl_command_queue queue = plain_queue();
    const int image = kiln_graph_add(
        g,
        &(kiln_node){.kind = KILN_NODE_INPUT,
                     .form = {.type = KILN_U8, .batch = 1, .channels = C, .size = {SIDE, SIDE}}});
    const int conv = kiln_graph_add(
        g, &(kiln_node){.name = "conv",
                        .from = {image},
                        .w.data = w,
                        .w_scales.data = scales,
                        .x_zero.data = &x_zero,
                        .y_zero.data = &y_zero,
                        .problem = {.out_channels = C,
                                    .filter = {1, 1},
                                    .w_type = KILN_I8,
                                    .y_type = KILN_U8,
                                    .quant.buffers = KILN_QUANT_W_SCALES | KILN_QUANT_X_ZERO |
                                                     KILN_QUANT_Y_ZERO}});
    kiln_graph_add(g, &(kiln_node){.kind = KILN_NODE_POOL,
                                   .from = {conv},
                                   .kept = 1,
                                   .pool = {.kind = KILN_POOL_MAX, .global = 1}});
    OK(kiln_net_create(support_open()->kiln, g, NULL, &net));
    OK(kiln_net_pack(net, queue));
    const kiln_buffer in = {make_buffer(x, sizeof x), 0}, out = {make_buffer(NULL, sizeof y), 0};
    OK(kiln_net_enqueue(net, queue, &in, &out, 0, NULL, NULL));
    clEnqueueReadBuffer(queue, out.mem, CL_TRUE, 0, sizeof y, y, 0, NULL, NULL);
    for (int k = 0; k < C; k++) {
        double most = 0;
        for (int i = 0; i < SIDE * SIDE; i++)
            most = fmax(most, rint(2.0 * (x[k * SIDE * SIDE + i] - x_zero) * scales[k]) + y_zero);
        ck_assert_msg(y[k] == most, "channel %d: %d instead of %g", k, y[k], most);
    }
    clReleaseMemObject(in.mem);
    clReleaseMemObject(out.mem);
    kiln_net_release(net);
    kiln_graph_release(g);
    clReleaseCommandQueue(queue);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("net");
    Suite *suite = suite_create("net");
    tcase_add_loop_test(tcase, every_node_is_right, 0, CASES);
    tcase_add_loop_test(tcase, a_hundred_runs_are_equal, 0, CASES);
    tcase_add_test(tcase, two_nets_on_two_queues);
    tcase_add_test(tcase, it_waits_and_gives_an_event);
    tcase_add_loop_test(tcase, operations_share_commands, 0, CASES);
    tcase_add_loop_test(tcase, other_sizes, 0, CASES);
    tcase_add_test(tcase, stand_ins_run_first);
    tcase_add_test(tcase, memory_is_lent);
    tcase_add_test(tcase, weights_in_a_file);
    tcase_add_test(tcase, quantised_nodes);
    suite_add_tcase(suite, tcase);
    return support_run_suite(suite);
}
