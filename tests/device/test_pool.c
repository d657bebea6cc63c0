/* Pools on a device against plain loops in double: kinds, windows, layouts, types, ranges of
 * channels, other tensors and activations; padding of layouts is zero, and nothing else is written.
 */
#include "driver/reference/activation.h"
#include "driver/reference/host.h"
#include "generator/plan/pool.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
    kiln_pool p;
    kiln_storage x, y, other;
    void *data[3]; /* x, y, other */
} fixture;

static int64_t cells_of(const kiln_storage *s)
{
    return s->cells;
}

static void *fill(const kiln_storage *s, kiln_type type, uint64_t seed)
{
    void *data = malloc((size_t)s->cells * 4 + 1);
    int64_t at[KILN_MAX_DIMS];
    for (int64_t i = 0; i < s->cells; i++) {
        const uint64_t r = host_random(seed, 3, (uint64_t)i);
        const double v = kiln_type_is_integer(type) ? (double)((int64_t)(r % 255) - 127)
                                                    : (double)((int64_t)(r % 2001) - 1000) / 500;
        host_set(type, data, i, kiln_storage_coordinate(s, i, at) ? v : 0);
    }
    return data;
}

static double read_at(const kiln_storage *s, kiln_type type, const void *data, int64_t n, int64_t c,
                      const int64_t *pixel)
{
    int64_t at[KILN_MAX_DIMS] = {n, c};
    for (int a = 0; a < s->layout.ndims - 2; a++)
        at[2 + a] = pixel[a];
    return host_get(type, data, kiln_storage_offset(s, at));
}

/* Goes through the taps of a window. */
static double pooled(const fixture *f, int64_t n, int64_t c, const int64_t *pixel, double *sum_of)
{
    const kiln_pool *p = &f->p;
    int64_t taps = 1, seen = 0;
    double all = p->kind == KILN_POOL_MAX ? -INFINITY : 0;
    *sum_of = 0;
    for (int a = 0; a < p->spatial_rank; a++)
        taps *= p->window[a];
    for (int64_t t = 0; t < taps; t++) {
        int64_t at[KILN_MAX_RANK], rest = t;
        bool in = true;
        for (int a = p->spatial_rank - 1; a >= 0; a--) {
            at[a] =
                pixel[a] * p->stride[a] - p->pad_begin[a] + rest % p->window[a] * p->dilation[a];
            rest /= p->window[a];
            in = in && at[a] >= 0 && at[a] < p->input[a];
        }
        if (!in)
            continue;
        const double v = read_at(&f->x, p->x_type, f->data[0], n, c + p->x_range.first, at);
        all = p->kind == KILN_POOL_MAX ? (v > all || isnan(v) ? v : all) : all + v;
        *sum_of += fabs(v);
        seen++;
    }
    const double terms = p->kind == KILN_POOL_AVERAGE          ? (double)seen
                         : p->kind == KILN_POOL_AVERAGE_PADDED ? (double)taps
                                                               : 1;
    *sum_of /= terms;
    return all / terms;
}

static kiln_epilogue epilogue_of(const kiln_pool *p)
{
    return (kiln_epilogue){.activation = p->activation, .param = {p->param[0], p->param[1]}};
}

/* The result before it is stored, and how large its terms are. */
static double element(const fixture *f, int64_t n, int64_t c, const int64_t *pixel, double *size)
{
    static const int64_t origin[KILN_MAX_RANK];
    const kiln_pool *p = &f->p;
    double v = p->alpha * pooled(f, n, c, pixel, size);
    *size = fabs(p->alpha) * *size;
    if (p->with) {
        const double other = p->beta * read_at(&f->other, p->y_type, f->data[2], n, c,
                                               p->other_is_one ? origin : pixel);
        v = p->with == KILN_WITH_SUM ? v + other : v * other;
        *size = p->with == KILN_WITH_SUM ? *size + fabs(other) : *size * fabs(other);
    }
    const kiln_epilogue e = epilogue_of(p);
    return activation_value(&e, v);
}

static cl_mem buffer(const void *data, int64_t bytes)
{
    cl_int code;
    cl_mem m = clCreateBuffer(support_open()->context, CL_MEM_COPY_HOST_PTR, (size_t)bytes,
                              (void *)data, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    return m;
}

static void run(fixture *f, const char *text)
{
    const support_device *d = support_open();
    kiln_buffers b = {0};
    kiln_op *op;
    const int64_t bytes[3] = {kiln_pool_bytes(&f->p, 'x'), kiln_pool_bytes(&f->p, 'y'),
                              kiln_pool_bytes(&f->p, 'r')};
    ck_assert_msg(kiln_pool_create(d->kiln, &f->p, &op) == KILN_OK, "%s: %s", text,
                  kiln_last_error());
    b.x.mem = buffer(f->data[0], bytes[0]);
    b.y.mem = buffer(f->data[1], bytes[1]);
    if (bytes[2])
        b.residual.mem = buffer(f->data[2], bytes[2]);
    ck_assert_msg(kiln_op_enqueue(op, d->queue, &b, 0, NULL, NULL) == KILN_OK, "%s: %s", text,
                  kiln_last_error());
    ck_assert_int_eq(clEnqueueReadBuffer(d->queue, b.y.mem, CL_TRUE, 0, (size_t)bytes[1],
                                         f->data[1], 0, NULL, NULL),
                     CL_SUCCESS);
    kiln_op_release(op);
    clReleaseMemObject(b.x.mem);
    clReleaseMemObject(b.y.mem);
    if (bytes[2])
        clReleaseMemObject(b.residual.mem);
}

/* The error of an element whose argument is `off` off, and of the size of its terms. */
static double bound_of(const kiln_pool *p, double off, double size, double wanted)
{
    const kiln_epilogue e = epilogue_of(p);
    const activation_error a = activation_error_of(&e, wanted, off);
    return a.slope * off + 0x1p-24 * ((a.of_result + 1) * fabs(wanted) + a.of_argument * size) +
           1e-36;
}

/* Whether `got` is what an element may be: not below or above the values that the bound
 * leaves. */
static bool is_right(kiln_type type, double got, double wanted, double bound)
{
    return (got >= host_round(type, wanted - bound) && got <= host_round(type, wanted + bound)) ||
           (isnan(got) && isnan(wanted));
}

/* Checks each cell of y: an element of the pool, padding that it owns, or a cell of other channels.
 */
static void compare(const fixture *f, const char *text)
{
    const kiln_pool *p = &f->p;
    const bool ends = p->y_range.first + p->channels == p->y_range.of;
    for (int64_t i = 0; i < f->y.cells; i++) {
        int64_t at[KILN_MAX_DIMS];
        const bool cell = kiln_storage_coordinate(&f->y, i, at);
        const double got = host_get(p->y_type, f->data[1], i);
        const int64_t c = at[1] - p->y_range.first;
        if (cell && c >= 0 && c < p->channels) {
            double size;
            const double wanted = element(f, at[0], c, &at[2], &size);
            const double terms = 8 + (double)(p->window[0] + p->window[1] + p->window[2]);
            const double bound = bound_of(p, terms * 0x1p-24 * size, size, wanted);
            ck_assert_msg(is_right(p->y_type, got, wanted, bound),
                          "%s: %g instead of %g at [%lld,%lld,%lld,%lld]", text, got, wanted,
                          (long long)at[0], (long long)at[1], (long long)at[2], (long long)at[3]);
        } else if (cell) {
            ck_assert_msg(host_is_poison(p->y_type, f->data[1], i),
                          "%s: cell %lld of another channel was written", text, (long long)i);
        } else if (ends && p->y_range.first == 0) {
            ck_assert_msg(got == 0, "%s: padding cell %lld is %g", text, (long long)i, got);
        }
    }
}

static void check(kiln_pool pool, uint64_t seed)
{
    fixture f = {.p = pool};
    char why[KILN_ERROR_TEXT], text[256];
    ck_assert_msg(kiln_pool_check(&f.p, why) == KILN_OK, "%s", why);
    snprintf(text, sizeof text, "pool %d with %d, %s to %s, %s to %s, c%lld i%lldx%lld w%lldx%lld",
             (int)f.p.kind, (int)f.p.with, f.p.x_layout, f.p.y_layout, kiln_type_name(f.p.x_type),
             kiln_type_name(f.p.y_type), (long long)f.p.channels, (long long)f.p.input[0],
             (long long)f.p.input[1], (long long)f.p.window[0], (long long)f.p.window[1]);
    ck_assert(kiln_pool_storage(&f.p, 'x', &f.x, why) && kiln_pool_storage(&f.p, 'y', &f.y, why) &&
              kiln_pool_storage(&f.p, 'r', &f.other, why));
    f.data[0] = fill(&f.x, f.p.x_type, seed);
    f.data[1] = malloc((size_t)f.y.cells * 4);
    f.data[2] = fill(&f.other, f.p.y_type, seed + 1);
    host_poison(f.p.y_type, f.data[1], cells_of(&f.y));
    run(&f, text);
    compare(&f, text);
    for (int i = 0; i < 3; i++)
        free(f.data[i]);
}

/* ---- what is tried ---- */

static const char *const layouts[] = {"NCHW",       "NHWC",     "NCHW16c", "NCHW8c",
                                      "NCHW4c",     "NHWC;C%8", "NHCW4c",  "CHWN",
                                      "NCHW;W%64B", "NHCW32c",  "NCHW32c"};
static const kiln_type types[] = {KILN_F32,    KILN_F16,    KILN_BF16, KILN_I8,
                                  KILN_F8E4M3, KILN_F8E5M2, KILN_U8};
enum { LAYOUTS = sizeof layouts / sizeof *layouts, TYPES = sizeof types / sizeof *types };

static int64_t below(uint64_t seed, uint64_t stream, int64_t n)
{
    return (int64_t)(host_random(seed, stream, 77) % (uint64_t)n);
}

static kiln_pool random_pool(uint64_t seed)
{
    kiln_pool p = {.kind = (kiln_pool_kind)below(seed, 1, 4),
                   .batch = 1 + below(seed, 2, 3),
                   .channels = 1 + below(seed, 3, 40),
                   .with = (kiln_pool_with)below(seed, 4, 3),
                   .x_type = types[below(seed, 5, TYPES)]};
    p.y_type = below(seed, 6, 3) ? p.x_type : types[below(seed, 7, TYPES)];
    strcpy(p.x_layout, layouts[below(seed, 8, LAYOUTS)]);
    strcpy(p.y_layout, below(seed, 9, 2) ? p.x_layout : layouts[below(seed, 10, LAYOUTS)]);
    p.other_is_one = p.with && below(seed, 11, 2);
    p.alpha = below(seed, 12, 3) ? 0 : 0.375f;
    p.beta = below(seed, 13, 3) ? 0 : -1.5f;
    p.activation =
        below(seed, 14, 2) ? KILN_IDENTITY : (kiln_activation)below(seed, 15, KILN_ACTIVATIONS);
    for (uint64_t a = 0; a < 2; a++) {
        p.input[a] = 3 + below(seed, 20 + a, 12);
        if (p.kind == KILN_POOL_NONE)
            continue;
        p.window[a] = 1 + below(seed, 22 + a, 3);
        p.stride[a] = 1 + below(seed, 24 + a, 3);
        p.dilation[a] = p.window[a] > 1 && below(seed, 26, 4) == 0 ? 2 : 1;
        const int64_t span = (p.window[a] - 1) * p.dilation[a];
        p.pad_begin[a] = below(seed, 28 + a, span + 1);
        p.pad_end[a] = below(seed, 30 + a, span + 1);
        if (p.input[a] + p.pad_begin[a] + p.pad_end[a] < span + 1)
            p.pad_end[a] = span;
    }
    return p;
}

START_TEST(random_pools)
{
    enum { CASES = 40 };
    for (uint64_t seed = 0; seed < CASES; seed++)
        check(random_pool(seed), seed);
}
END_TEST

/* Each layout beside itself, with channels that fill blocks and that do not. */
START_TEST(every_layout)
{
    for (int i = 0; i < LAYOUTS; i++)
        for (int64_t channels = 5; channels <= 48; channels += 43) {
            kiln_pool p = {.kind = i % 2 ? KILN_POOL_MAX : KILN_POOL_AVERAGE,
                           .batch = 2,
                           .channels = channels,
                           .input = {9, 7},
                           .window = {3, 3},
                           .stride = {2, 2},
                           .pad_begin = {1, 1},
                           .pad_end = {1, 1}};
            strcpy(p.x_layout, layouts[i]);
            strcpy(p.y_layout, layouts[i]);
            check(p, (uint64_t)i);
        }
}
END_TEST

START_TEST(every_type)
{
    for (int i = 0; i < TYPES; i++)
        for (int kind = KILN_POOL_NONE; kind <= KILN_POOL_AVERAGE_PADDED; kind++) {
            kiln_pool p = {.kind = (kiln_pool_kind)kind,
                           .batch = 1,
                           .channels = 32,
                           .x_type = types[i],
                           .x_layout = "NHWC",
                           .y_layout = "NHWC",
                           .global = kind != KILN_POOL_NONE,
                           .input = {6, 5}};
            check(p, (uint64_t)i);
        }
}
END_TEST

START_TEST(other_ranks)
{
    const kiln_pool line = {.kind = KILN_POOL_MAX,
                            .spatial_rank = 1,
                            .batch = 2,
                            .channels = 3,
                            .input = {17},
                            .window = {4},
                            .stride = {3},
                            .pad_end = {2}};
    const kiln_pool room = {.kind = KILN_POOL_AVERAGE,
                            .spatial_rank = 3,
                            .batch = 1,
                            .channels = 20,
                            .x_layout = "NDHWC",
                            .y_layout = "NDHWC",
                            .input = {5, 4, 6},
                            .window = {2, 3, 3},
                            .stride = {2, 1, 2},
                            .pad_begin = {0, 1, 1},
                            .pad_end = {1, 1, 0}};
    check(line, 1);
    check(room, 2);
}
END_TEST

/* Ranges in x and y, whose ends lie inside blocks or between them. */
START_TEST(ranges_of_channels)
{
    static const char *const some[] = {"NCHW", "NHWC", "NCHW16c"};
    static const struct {
        int64_t channels;
        kiln_channel_range x, y;
    } cases[] = {
        {16, {16, 48}, {32, 64}}, {5, {3, 11}, {0, 0}},   {16, {0, 0}, {5, 21}},
        {16, {0, 0}, {0, 40}},    {8, {0, 20}, {12, 20}}, {3, {61, 64}, {1, 9}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int l = 0; l < 9; l++) {
            kiln_pool p = {.batch = 2,
                           .channels = cases[i].channels,
                           .input = {5, 3},
                           .x_range = cases[i].x,
                           .y_range = cases[i].y};
            strcpy(p.x_layout, some[l % 3]);
            strcpy(p.y_layout, some[l / 3]);
            check(p, i);
        }
}
END_TEST

/* A NaN goes through every kind; a window of infinities has no other largest element. */
START_TEST(not_finite)
{
    const support_device *d = support_open();
    for (int kind = KILN_POOL_MAX; kind <= KILN_POOL_AVERAGE_PADDED; kind++) {
        const kiln_pool p = {.kind = (kiln_pool_kind)kind,
                             .batch = 1,
                             .channels = 4,
                             .x_layout = "NHWC",
                             .y_layout = "NHWC",
                             .input = {2, 2},
                             .global = 1};
        float x[16], y[4];
        for (int i = 0; i < 16; i++)
            x[i] = i % 4 == 0 ? -INFINITY : (float)i;
        x[1] = NAN; /* the first element that the window meets, and the last one */
        x[14] = NAN;
        kiln_op *op;
        ck_assert_int_eq(kiln_pool_create(d->kiln, &p, &op), KILN_OK);
        kiln_buffers b = {.x.mem = buffer(x, sizeof x), .y.mem = buffer(y, sizeof y)};
        ck_assert_int_eq(kiln_op_enqueue(op, d->queue, &b, 0, NULL, NULL), KILN_OK);
        clEnqueueReadBuffer(d->queue, b.y.mem, CL_TRUE, 0, sizeof y, y, 0, NULL, NULL);
        ck_assert(y[0] == -INFINITY && isnan(y[1]) && isnan(y[2]) && isfinite(y[3]));
        clReleaseMemObject(b.x.mem);
        clReleaseMemObject(b.y.mem);
        kiln_op_release(op);
    }
}
END_TEST

START_TEST(refusals)
{
    static const struct {
        kiln_pool pool;
        const char *says;
    } cases[] = {
        {{.batch = 0, .channels = 1, .input = {4, 4}}, "batch 0"},
        {{.kind = KILN_POOL_MAX,
          .batch = 1,
          .channels = 1,
          .input = {4, 4},
          .window = {2, 2},
          .pad_begin = {2, 0}},
         "less than its window"},
        {{.kind = KILN_POOL_MAX, .batch = 1, .channels = 1, .input = {2, 2}, .window = {3, 3}},
         "larger than the image"},
        {{.batch = 1, .channels = 1, .input = {4, 4}, .window = {2, 1}}, "need a kind of pool"},
        {{.batch = 1, .channels = 4, .input = {4, 4}, .x_range = {2, 5}}, "not among its 5"},
        {{.batch = 1, .channels = 4, .input = {4, 4}, .x_type = KILN_I32},
         "x_type of a pool is i32"},
        {{.batch = 1, .channels = 4, .input = {4, 4}, .x_layout = "any"}, "name it"},
        {{.batch = 1, .channels = 4, .input = {4, 4}, .y_layout = "NH|CW|4c"}, "is an image"},
        {{.batch = 1, .channels = 4, .input = {4, 4}, .other_is_one = 1}, "set `with`"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kiln_op *op;
        ck_assert_int_eq(kiln_pool_create(support_open()->kiln, &cases[i].pool, &op), KILN_INVALID);
        ck_assert_msg(strstr(kiln_last_error(), cases[i].says), "%s", kiln_last_error());
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("pool");
    Suite *suite = suite_create("pool");
    tcase_add_test(tcase, random_pools);
    tcase_add_test(tcase, every_layout);
    tcase_add_test(tcase, every_type);
    tcase_add_test(tcase, other_ranks);
    tcase_add_test(tcase, ranges_of_channels);
    tcase_add_test(tcase, not_finite);
    tcase_add_test(tcase, refusals);
    suite_add_tcase(suite, tcase);
    return support_run_suite(suite);
}
