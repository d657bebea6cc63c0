/* ConvOclDirectFwd1x1 on a device: small integers, so that every result is exact, poison before,
 * after and inside the destination, and a reference written from the definition. */
#include "driver/reference/host.h"
#include "support/suite.h"
#include "support/support.h"
#include "kiln.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;
static kiln *handle;

static void setup(void)
{
    cl_int error;
    device = support_find_device();
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    ck_assert_int_eq(error, CL_SUCCESS);
    queue = clCreateCommandQueue(context, device, 0, &error);
    ck_assert_int_eq(error, CL_SUCCESS);
    ck_assert_msg(kiln_open(&handle, context, device, NULL) == KILN_OK, "%s", kiln_last_error());
}

static void teardown(void)
{
    kiln_close(handle);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}

/* A tensor in host and device memory with GUARD poisoned bytes before and after it. */
enum { GUARD = 4096 };

typedef struct tensor {
    kiln_type type;
    int64_t count;
    size_t bytes;
    unsigned char *host;
    kiln_buffer buffer;
} tensor;

static void *elements(const tensor *t)
{
    return t->host + GUARD;
}

static tensor tensor_new(kiln_type type, int64_t count)
{
    tensor t = {.type = type, .count = count, .bytes = (size_t)count * kiln_type_size(type)};
    t.host = malloc(t.bytes + 2 * GUARD);
    ck_assert(t.host != NULL);
    memset(t.host, 0xff, t.bytes + 2 * GUARD); /* NaN in every floating type */
    return t;
}

static void tensor_fill(tensor *t, unsigned salt)
{
    for (int64_t i = 0; i < t->count; i++) {
        unsigned hash = ((unsigned)i + salt) * 2654435761u;
        host_set(t->type, elements(t), i, (double)((hash >> 20) % 7) - 3);
    }
}

static void tensor_upload(tensor *t)
{
    cl_int error;
    t->buffer.mem = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                   t->bytes + 2 * GUARD, t->host, &error);
    ck_assert_int_eq(error, CL_SUCCESS);
    t->buffer.offset = GUARD;
}

static void tensor_free(tensor *t)
{
    free(t->host);
    if (t->buffer.mem)
        clReleaseMemObject(t->buffer.mem);
}

typedef struct tensors {
    tensor x, w, y, bias, residual;
} tensors;

static double activated(const kiln_problem *p, const tensors *t, int64_t channel, int64_t at,
                        double sum)
{
    if (p->epilogue.beta != 0)
        sum += p->epilogue.beta * host_get(t->residual.type, elements(&t->residual), at);
    if (p->epilogue.bias)
        sum += ((const float *)elements(&t->bias))[channel];
    return p->epilogue.activation == KILN_RELU && sum < 0 ? 0 : sum;
}

/* One element of what the problem writes, from the definition: y[n][k][i] adds up x[n][c][i *
 * stride]
 * * w[k][c]; dx and a transposed convolution's y take the same terms the other way. */
static double expected(const kiln_problem *p, const tensors *t, int64_t at)
{
    bool scatter = (p->direction == KILN_BACKWARD_DATA) != (p->transposed != 0);
    const tensor *source = p->direction == KILN_FORWARD ? &t->x : &t->y;
    int64_t out[2] = {kiln_problem_output(p, 0), kiln_problem_output(p, 1)};
    const int64_t *from = p->direction == KILN_FORWARD ? p->input : out;
    const int64_t *to = p->direction == KILN_FORWARD ? out : p->input;
    bool forward = p->direction == KILN_FORWARD;
    int64_t terms = forward ? p->in_channels : p->out_channels;
    int64_t channels = forward ? p->out_channels : p->in_channels;
    /* w is [K][C] of the plain convolution: the first index is the channel of its y. */
    int64_t row = p->transposed ? p->out_channels : p->in_channels;

    int64_t column = at % to[1], line = at / to[1] % to[0];
    int64_t channel = at / to[1] / to[0] % channels, image = at / to[1] / to[0] / channels;
    bool hole = scatter && (line % p->stride[0] != 0 || column % p->stride[1] != 0);
    line = scatter ? line / p->stride[0] : line * p->stride[0];
    column = scatter ? column / p->stride[1] : column * p->stride[1];
    double sum = 0;
    for (int64_t c = 0; c < terms && !hole && line < from[0] && column < from[1]; c++) {
        int64_t i = ((image * terms + c) * from[0] + line) * from[1] + column;
        int64_t j = scatter ? c * row + channel : channel * row + c;
        sum +=
            host_get(source->type, elements(source), i) * host_get(t->w.type, elements(&t->w), j);
    }
    return activated(p, t, channel, at, sum);
}

static void expect_result(const kiln_problem *p, const tensors *t, const char *what)
{
    tensor out = p->direction == KILN_FORWARD ? t->y : t->x;
    unsigned char *got = malloc(out.bytes + 2 * GUARD);
    ck_assert(got != NULL);
    ck_assert_int_eq(clEnqueueReadBuffer(queue, out.buffer.mem, CL_TRUE, 0, out.bytes + 2 * GUARD,
                                         got, 0, NULL, NULL),
                     CL_SUCCESS);
    for (int64_t i = 0; i < out.count; i++) {
        double value = host_get(out.type, got + GUARD, i), want;
        unsigned char rounded[8];
        host_set(out.type, rounded, 0, expected(p, t, i));
        want = host_get(out.type, rounded, 0);
        ck_assert_msg(value == want, "%s: element %lld is %g, not %g", what, (long long)i, value,
                      want);
    }
    for (size_t i = 0; i < GUARD; i++)
        ck_assert_msg(got[i] == 0xff && got[GUARD + out.bytes + i] == 0xff,
                      "%s: wrote outside the tensor, %zu bytes off", what, i);
    free(got);
}

static tensors make_tensors(const kiln_problem *p)
{
    tensors t = {.x = tensor_new(p->x_type, kiln_problem_count(p, 'x')),
                 .w = tensor_new(p->w_type, kiln_problem_count(p, 'w')),
                 .y = tensor_new(p->y_type, kiln_problem_count(p, 'y')),
                 .bias = tensor_new(KILN_F32, p->out_channels),
                 .residual = tensor_new(p->y_type, kiln_problem_count(p, 'y'))};
    tensor_fill(p->direction == KILN_FORWARD ? &t.x : &t.y, 1);
    tensor_fill(&t.w, 77);
    tensor_fill(&t.bias, 5);
    tensor_fill(&t.residual, 9);
    tensor_upload(&t.x);
    tensor_upload(&t.w);
    tensor_upload(&t.y);
    tensor_upload(&t.bias);
    tensor_upload(&t.residual);
    return t;
}

static void run(kiln_problem p, const char *config)
{
    char why[KILN_ERROR_TEXT], what[KILN_KEY_TEXT + 64];
    ck_assert_msg(kiln_problem_check(&p, why) == KILN_OK, "%s", why);
    kiln_problem_text(&p, what, KILN_KEY_TEXT);
    strcat(strcat(what, " "), config ? config : "guess");

    kiln_choice choice = {.solver = "ConvOclDirectFwd1x1", .config = config, .ignore_rows = 1};
    kiln_op *op;
    ck_assert_msg(kiln_conv_create(handle, &p, &choice, &op) == KILN_OK, "%s: %s", what,
                  kiln_last_error());
    tensors t = make_tensors(&p);
    kiln_buffers buffers = {.x = t.x.buffer, .w = t.w.buffer, .y = t.y.buffer};
    if (p.epilogue.bias)
        buffers.bias = t.bias.buffer;
    if (p.epilogue.beta != 0)
        buffers.residual = t.residual.buffer;
    ck_assert_msg(kiln_op_enqueue(op, queue, &buffers, 0, NULL, NULL) == KILN_OK, "%s: %s", what,
                  kiln_last_error());
    expect_result(&p, &t, what);
    kiln_op_release(op);
    tensor_free(&t.x);
    tensor_free(&t.w);
    tensor_free(&t.y);
    tensor_free(&t.bias);
    tensor_free(&t.residual);
}

static kiln_problem problem(int64_t n, int64_t c, int64_t h, int64_t w, int64_t k, int64_t sh,
                            int64_t sw)
{
    return (kiln_problem){.batch = n,
                          .in_channels = c,
                          .out_channels = k,
                          .input = {h, w},
                          .filter = {1, 1},
                          .stride = {sh, sw}};
}

static void run_all(kiln_problem p, const char *const configs[])
{
    for (; *configs; configs++)
        run(p, *configs);
}

#define CONFIGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Loops of 10, 1, 3 + 1 and 2 steps; sums of 4 to 48; the compiler cheat on, off and at MIOpen's 4.
 */
START_TEST(j1_any_number_of_steps)
{
    run_all(problem(3, 80, 5, 7, 48, 1, 1),
            CONFIGS("1,64,1,1,1,0,16,2048,0", "1,64,1,1,1,1,48,2048,0", "1,64,1,1,1,1,16,8,0",
                    "1,64,1,1,1,4,64,24,0", "1,64,1,1,1,0,4,16,0", "8,8,8,8,1,0,32,128,1"));
    run(problem(1, 16, 1, 1, 16, 1, 1), "1,64,1,1,1,1,16,8,0");
    run(problem(1, 16, 1, 131, 16, 1, 1), NULL);
    run(problem(2, 144, 3, 5, 32, 1, 1), "8,8,8,8,1,0,32,128,1");
}
END_TEST

START_TEST(j1_strided)
{
    static const int64_t strides[][2] = {{1, 2}, {2, 1}, {2, 2}, {3, 3}, {4, 3}, {9, 20}};
    const char *const *configs =
        CONFIGS("1,64,1,1,1,1,32,2048,0", "1,64,1,1,1,0,16,8,0", "1,64,1,1,1,4,16,40,0");
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++)
        for (size_t j = 0; j < 2; j++)
            run(problem(3, 48, 9, 14, 32, strides[i][0], strides[i][1]), configs[(i + j) % 3]);
    run(problem(2, 32, 7, 7, 16, 2, 2), NULL);
}
END_TEST

START_TEST(s_forward)
{
    run(problem(3, 7, 13, 13, 100, 1, 1), NULL);
    run(problem(2, 40, 10, 10, 33, 1, 1), NULL);
    run(problem(5, 1, 1, 1, 1, 1, 1), NULL);
    run_all(problem(2, 24, 6, 8, 20, 1, 1),
            CONFIGS("1,64,1,1,0,4,16,8,0", "1,5,1,1,0,2,4,4,0", "1,256,1,1,0,3,64,2048,0",
                    "1,1,1,1,0,1,5,3,1"));
}
END_TEST

/* Rows of 6 with 4 pixels a work-item, of 3 with 2: the last one has fewer. */
START_TEST(s_forward_strided)
{
    run(problem(2, 20, 14, 14, 10, 2, 2), NULL);
    run(problem(2, 12, 28, 28, 12, 2, 2), "16,64,32,32,0,2,16,4,1");
    run(problem(3, 5, 11, 12, 6, 2, 2), "1,64,1,1,0,4,16,4,0");
    run(problem(2, 6, 7, 8, 9, 1, 3), "1,128,1,1,0,2,16,8,0");
    run(problem(2, 6, 9, 8, 9, 4, 1), "1,64,1,1,0,4,4,4,0");
    run(problem(2, 3, 5, 4, 3, 7, 9), NULL);
}
END_TEST

START_TEST(s_backward_data)
{
    static const int64_t sizes[][2] = {{1, 1}, {7, 10}, {12, 12}, {13, 9}, {5, 38}, {38, 6}};
    for (int64_t stride = 1; stride <= 4; stride++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            if (stride > 2 && (i + (size_t)stride) % 2)
                continue; /* these two strides share the sizes */
            kiln_problem p = problem(2, 10, sizes[i][0], sizes[i][1], 12, stride, stride);
            p.direction = KILN_BACKWARD_DATA;
            run(p, i % 2 ? "1,64,1,1,0,2,8,4,0" : "1,33,1,1,0,4,5,8,0");
        }
    kiln_problem p = problem(3, 32, 6, 20, 16, 2, 3);
    p.direction = KILN_BACKWARD_DATA;
    run_all(p, CONFIGS("8,64,8,30,0,1,16,4,1", "1,64,1,1,0,2,32,8,0", "1,64,1,1,0,5,3,1,0"));
    p.stride[0] = 50;
    run(p, NULL);
}
END_TEST

START_TEST(half_types)
{
    static const kiln_type types[] = {KILN_F16, KILN_BF16};
    for (int i = 0; i < 2; i++)
        for (int stride = 1; stride <= 3; stride += 2)
            for (int direction = KILN_FORWARD; direction <= KILN_BACKWARD_DATA; direction++) {
                kiln_problem p = problem(2, 48, 5, 8, 32, stride, stride);
                p.direction = (kiln_direction)direction;
                p.x_type = p.w_type = p.y_type = types[i];
                run(p, NULL);
                run(p, "1,64,1,1,0,4,8,8,0");
            }
}
END_TEST

static kiln_problem with_epilogue(kiln_problem p)
{
    p.epilogue = (kiln_epilogue){.bias = 1, .beta = 2, .activation = KILN_RELU};
    return p;
}

START_TEST(epilogue)
{
    run(with_epilogue(problem(2, 32, 5, 7, 32, 1, 1)), NULL);
    run(with_epilogue(problem(2, 160, 5, 7, 32, 2, 2)), NULL);
    run(with_epilogue(problem(2, 24, 6, 4, 20, 1, 1)), NULL);
    run(with_epilogue(problem(2, 24, 6, 12, 20, 2, 2)), "1,64,1,1,0,4,4,4,0");
    kiln_problem p = problem(2, 24, 6, 4, 20, 1, 1);
    p.x_type = p.w_type = p.y_type = KILN_F16;
    run(with_epilogue(p), NULL);
}
END_TEST

/* Its forward pass is the strided backward pass over the data, holes and epilogue included. */
START_TEST(transposed)
{
    kiln_problem p = problem(2, 12, 5, 6, 20, 3, 2);
    p.transposed = 1;
    p.output_pad[0] = 2;
    run(p, NULL);
    run(with_epilogue(p), NULL);
    p.direction = KILN_BACKWARD_DATA;
    run(p, NULL);
    p = problem(2, 144, 5, 6, 32, 2, 2);
    p.transposed = 1;
    p.direction = KILN_BACKWARD_DATA;
    run(p, "1,64,1,1,1,0,16,64,0");
    run(p, "1,64,1,1,1,0,16,2048,0");
}
END_TEST

START_TEST(the_default_of_miopen_splits)
{
    kiln_problem p = problem(2, 272, 4, 5, 32, 1, 1);
    p.determinism = KILN_NONDETERMINISTIC;
    run(p, NULL);
    run(p, "8,8,8,8,1,0,32,128,1");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("miopen1x1");
    tcase_add_unchecked_fixture(tests, setup, teardown);
    tcase_add_test(tests, j1_any_number_of_steps);
    tcase_add_test(tests, j1_strided);
    tcase_add_test(tests, s_forward);
    tcase_add_test(tests, s_forward_strided);
    tcase_add_test(tests, s_backward_data);
    tcase_add_test(tests, half_types);
    tcase_add_test(tests, epilogue);
    tcase_add_test(tests, transposed);
    tcase_add_test(tests, the_default_of_miopen_splits);
    Suite *suite = suite_create("miopen1x1 on a device");
    suite_add_tcase(suite, tests);
    return support_run_suite(suite);
}
