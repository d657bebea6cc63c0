/* Reformats on a device: golden storage both ways, random pairs against the host, conversions. */
#include "golden.h"
#include "host.h"
#include "kiln_internal.h"
#include "layout_host.h"
#include "support/support.h"

#include <check.h>
#include <math.h>

/* ---- one side of a reformat on the device ---- */

static cl_image_format format_of(kiln_type type)
{
    static const cl_channel_type channel[] = {[KILN_F32] = CL_FLOAT,
                                              [KILN_F16] = CL_HALF_FLOAT,
                                              [KILN_I8] = CL_SIGNED_INT8,
                                              [KILN_I32] = CL_SIGNED_INT32};
    return (cl_image_format){CL_RGBA, channel[type]};
}

/* `contents` is a plain array of the cells; an image has them as its rows, one after the other. */
static cl_mem upload(const kiln_storage *s, kiln_type type, void *contents)
{
    const support_device *d = support_open();
    cl_int code;
    cl_mem mem;
    if (s->layout.image) {
        const cl_image_format format = format_of(type);
        const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                                    .image_width = (size_t)s->width,
                                    .image_height = (size_t)s->height};
        mem = clCreateImage(d->context, CL_MEM_COPY_HOST_PTR, &format, &desc, contents, &code);
    } else {
        mem = clCreateBuffer(d->context, CL_MEM_COPY_HOST_PTR,
                             (size_t)s->cells * kiln_type_size(type), contents, &code);
    }
    ck_assert_int_eq(code, CL_SUCCESS);
    return mem;
}

static void download(cl_mem mem, const kiln_storage *s, kiln_type type, void *contents)
{
    const support_device *d = support_open();
    const size_t origin[3] = {0, 0, 0}, region[3] = {(size_t)s->width, (size_t)s->height, 1};
    cl_int code = s->layout.image ? clEnqueueReadImage(d->queue, mem, CL_TRUE, origin, region, 0, 0,
                                                       contents, 0, NULL, NULL)
                                  : clEnqueueReadBuffer(d->queue, mem, CL_TRUE, 0,
                                                        (size_t)s->cells * kiln_type_size(type),
                                                        contents, 0, NULL, NULL);
    ck_assert_int_eq(code, CL_SUCCESS);
}

/* ---- running one ---- */

typedef struct fixture {
    kiln_reformat r; /* checked */
    kiln_storage from, to;
    kiln_op *op;
} fixture;

static fixture make(const kiln_reformat *r)
{
    fixture f = {.r = *r};
    char why[KILN_ERROR_TEXT];
    ck_assert_msg(kiln_reformat_check(&f.r, &f.from, &f.to, why) == KILN_OK, "%s", why);
    ck_assert_msg(kiln_reformat_create(support_open()->kiln, r, &f.op) == KILN_OK, "%s -> %s: %s",
                  r->from, r->to, kiln_last_error());
    return f;
}

static const char *kernel_of(const fixture *f)
{
    kiln_stage_info info;
    ck_assert_int_eq(kiln_op_stage(f->op, 0, &info), KILN_OK);
    return info.kernel;
}

/* `target` is poisoned, then receives what the device wrote. */
static void run(const fixture *f, void *source, void *target)
{
    host_poison(f->r.to_type, target, f->to.cells);
    cl_mem x = upload(&f->from, f->r.from_type, source);
    cl_mem y = upload(&f->to, f->r.to_type, target);
    const kiln_buffers b = {.x = {x, 0}, .y = {y, 0}};
    ck_assert_msg(kiln_op_enqueue(f->op, support_open()->queue, &b, 0, NULL, NULL) == KILN_OK, "%s",
                  kiln_last_error());
    download(y, &f->to, f->r.to_type, target);
    clReleaseMemObject(x);
    clReleaseMemObject(y);
}

/* Equal values, with one NaN as good as another; -0 is not 0. */
static bool same(kiln_type type, const void *a, const void *b, int64_t i)
{
    size_t size = kiln_type_size(type);
    const char *p = a, *q = b;
    return memcmp(p + (size_t)i * size, q + (size_t)i * size, size) == 0 ||
           (isnan(host_get(type, a, i)) && isnan(host_get(type, b, i)));
}

static void check_same(const fixture *f, const void *got, const void *wanted)
{
    for (int64_t i = 0; i < f->to.cells; i++)
        ck_assert_msg(same(f->r.to_type, got, wanted, i),
                      "%s %s %lldx%lldx%lldx%lld -> %s %s (%s): cell %lld is %.9g, not %.9g",
                      f->from.layout.spec, kiln_type_name(f->r.from_type), (long long)f->r.size[0],
                      (long long)f->r.size[1], (long long)f->r.size[2], (long long)f->r.size[3],
                      f->to.layout.spec, kiln_type_name(f->r.to_type), kernel_of(f), (long long)i,
                      host_get(f->r.to_type, got, i), host_get(f->r.to_type, wanted, i));
}

/* ---- golden storage ---- */

enum { MOST_CELLS = 16384, MOST_LINES = 1024 };

typedef struct golden_case {
    char layout[64], dims[16], fill[16];
    int64_t dim[KILN_MAX_DIMS], cell[MOST_CELLS];
    int64_t ncells, elements;
} golden_case;

static void read_case(const char *line, golden_case *c)
{
    ck_assert(golden_text(line, "layout", c->layout, sizeof c->layout));
    ck_assert(golden_text(line, "dims_order", c->dims, sizeof c->dims));
    ck_assert(golden_text(line, "fill", c->fill, sizeof c->fill));
    int ndims = golden_numbers(line, "dims", c->dim, KILN_MAX_DIMS);
    c->ncells = golden_numbers(line, "storage", c->cell, MOST_CELLS);
    c->elements = 1;
    for (int d = 0; d < ndims; d++)
        c->elements *= c->dim[d];
}

/* The ops of one layout and its dims, and where golden data put the elements: order[cell] is 1 +
 * the element's place in logical order, 0 for padding. */
typedef struct golden_ops {
    golden_case order;
    fixture to, back;
} golden_ops;

static void make_ops(golden_ops *ops, kiln_type type)
{
    const golden_case *c = &ops->order;
    kiln_reformat r = {.from_type = type};
    snprintf(r.dims, sizeof r.dims, "%.6s", c->dims);
    snprintf(r.from, sizeof r.from, "%.6s", c->dims);
    snprintf(r.to, sizeof r.to, "%.39s", c->layout);
    memcpy(r.size, c->dim, sizeof r.size);
    ops->to = make(&r);
    memcpy(r.to, r.from, sizeof r.to);
    snprintf(r.from, sizeof r.from, "%.39s", c->layout);
    ops->back = make(&r);
}

/* Any values: here the fills of the golden lines. */
static void check_both_ways(const golden_ops *ops, const int64_t *cells)
{
    static float plain[MOST_CELLS], storage[MOST_CELLS], out[MOST_CELLS];
    const golden_case *c = &ops->order;
    kiln_type type = ops->to.r.from_type;
    for (int64_t i = 0; i < c->ncells; i++) {
        host_set(type, storage, i, (double)cells[i]);
        if (c->cell[i])
            host_set(type, plain, c->cell[i] - 1, (double)cells[i]);
    }
    ck_assert_int_eq(ops->to.to.cells, c->ncells);
    ck_assert_int_eq(ops->back.to.cells, c->elements);
    run(&ops->to, plain, out);
    check_same(&ops->to, out, storage);
    run(&ops->back, storage, out);
    check_same(&ops->back, out, plain);
}

START_TEST(golden_storage)
{
    static golden_ops ops;
    static golden_case c;
    char *line = NULL;
    size_t room = 0;
    int n = 0, orders = 0;
    FILE *f = golden_open("layout.jsonl");
    ck_assert_ptr_nonnull(f);
    while (getline(&line, &room, f) > 0) {
        read_case(line, &c);
        if (strcmp(c.fill, "index1") == 0) {
            kiln_op_release(ops.to.op);
            kiln_op_release(ops.back.op);
            ops.order = c;
            make_ops(&ops, orders++ % 2 ? KILN_F16 : KILN_F32);
        }
        /* A line with random values follows the one that says their order. */
        ck_assert_str_eq(c.layout, ops.order.layout);
        ck_assert_mem_eq(c.dim, ops.order.dim, sizeof c.dim);
        check_both_ways(&ops, c.cell);
        n++;
    }
    ck_assert_int_ge(n, 300);
    kiln_op_release(ops.to.op);
    kiln_op_release(ops.back.op);
    free(line);
    fclose(f);
}
END_TEST

/* ---- against the host ---- */

/* Values at which conversions differ: ties, limits, what only one type can hold. */
static const double awkward[] = {
    0,
    -0.0,
    0.5,
    1.5,
    2.5,
    -0.5,
    -1.5,
    126.5,
    127.5,
    -128.5,
    -129,
    65504,
    65519.996,
    65520,
    1e10,
    -1e10,
    2147483520.0,
    2147483648.0,
    -2147483648.0,
    3e38,
    1 + 0x1p-8,
    1 + 3 * 0x1p-8,
    1 + 0x1p-8 + 0x1p-20,
    0x1p-24,
    0x1p-25,
    0x1.8p-25,
    0x1p-15,
    INFINITY,
    -INFINITY,
    NAN,
    16842753,
    16908289,
    -16842753,
    2147483647,
    33554431,
    1 << 24 | 1,
};

static void fill(kiln_type type, uint64_t seed, void *data, int64_t count)
{
    enum { N = sizeof awkward / sizeof *awkward };
    host_fill_tensor(HOST_FILL_UNIFORM, seed, HOST_X, type, 1, data, count);
    for (int64_t i = 0; i < count; i++) {
        uint64_t random = host_random(seed, 9, (uint64_t)i);
        if (random % 4 == 0)
            host_set(type, data, i, awkward[random / 4 % N]);
        else if (type == KILN_I32)
            host_set(type, data, i, (double)(int32_t)(random >> 32));
        else if (random % 4 == 1)
            host_set(type, data, i, 300 * host_get(type, data, i));
    }
}

static void against_host(const kiln_reformat *r, uint64_t seed)
{
    fixture f = make(r);
    void *source = malloc((size_t)f.from.cells * 4), *got = malloc((size_t)f.to.cells * 4);
    void *wanted = malloc((size_t)f.to.cells * 4);
    fill(f.r.from_type, seed, source, f.from.cells);
    layout_host_convert(&f.r, &f.from, &f.to, source, wanted);
    run(&f, source, got);
    check_same(&f, got, wanted);
    kiln_op_release(f.op);
    free(source);
    free(got);
    free(wanted);
}

static const kiln_type types[] = {KILN_F32, KILN_F16, KILN_BF16, KILN_I8, KILN_I32};

START_TEST(every_pair_of_types)
{
    static const char *const to[] = {"NCHW16c", "NHWC", "NHCW4c", "NH|CW|4c"};
    for (int i = 0; i < 25; i++)
        for (int j = 0; j < 4; j++) {
            kiln_reformat r = {.size = {2, 19, 5, 13}, .from = "NCHW", .from_type = types[i / 5]};
            r.to_type = types[i % 5];
            r.pad_value = -2.5;
            strcpy(r.to, to[j]);
            if (j == 3 && r.to_type == KILN_BF16)
                continue;
            against_host(&r, (uint64_t)(i * 4 + j));
        }
}
END_TEST

/* All 65536 bit patterns, through the tiles and one by one. */
START_TEST(every_short_float)
{
    static uint16_t all[65536];
    static uint32_t got[65536], wanted[65536];
    static const kiln_type shorts[] = {KILN_F16, KILN_BF16};
    for (int i = 0; i < 65536; i++)
        all[i] = (uint16_t)i;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 5; j++)
            for (int k = 0; k < 2; k++) {
                kiln_reformat r = {.size = {1, 64, 32, 32}, .from = "NCHW"};
                strcpy(r.to, k ? "NHWC" : "HCNW");
                r.from_type = shorts[i];
                r.to_type = types[j];
                fixture f = make(&r);
                layout_host_convert(&f.r, &f.from, &f.to, all, wanted);
                run(&f, all, got);
                check_same(&f, got, wanted);
                kiln_op_release(f.op);
            }
}
END_TEST

START_TEST(random_pairs)
{
    static const char *const logical[] = {"NCHW", "OIHW", "NCDHW", "W", "MIHW"};
    enum { CASES = 150 };
    for (uint64_t i = 0, done = 0; done < CASES; i++) {
        const char *dims = logical[host_random(i, 1, 0) % 10 % 5];
        const kiln_layout_entry *side[2];
        kiln_type type[2];
        bool fine = true;
        for (int j = 0; j < 2; j++) {
            side[j] = kiln_layout_at((int)(host_random(i, 2, (uint64_t)j) % 60));
            type[j] = types[host_random(i, 3, (uint64_t)j) % 5];
            fine = fine && side[j] && strcmp(side[j]->dims, dims) == 0 &&
                   !(strchr(side[j]->spec, '|') && type[j] == KILN_BF16);
        }
        if (!fine)
            continue;
        kiln_reformat r = {.from_type = type[0],
                           .to_type = type[1],
                           .pad_value = done % 3 ? 0 : (double)(host_random(i, 4, 0) % 200) - 99.5};
        snprintf(r.from, sizeof r.from, "%s", side[0]->name);
        snprintf(r.to, sizeof r.to, "%s", side[1]->name);
        for (size_t d = 0; dims[d]; d++)
            r.size[d] = 1 + (int64_t)(host_random(i, 5, d) % (d == 1 ? 40 : 9));
        kiln_storage from, to;
        char why[KILN_ERROR_TEXT];
        kiln_reformat checked = r;
        if (kiln_reformat_check(&checked, &from, &to, why) != KILN_OK)
            continue; /* DLA_HWC4 takes 4 channels, depthwise images one multiplier */
        against_host(&r, i);
        done++;
    }
}
END_TEST

/* ---- the tiles ---- */

START_TEST(tiles)
{
    static const struct {
        const char *to;
        int64_t size[4];
        bool tiled;
    } cases[] = {
        {"NHWC", {2, 16, 4, 4}, true},       {"NHWC", {1, 35, 7, 7}, true},
        {"NHWC", {3, 17, 1, 16}, true},      {"NHWC", {1, 100, 13, 11}, true},
        {"NHWC", {2, 5, 9, 9}, true},        {"NHWC", {1, 3, 9, 9}, false},
        {"NCHW8c", {2, 8, 5, 7}, true},      {"NCHW8c", {2, 3, 14, 14}, true},
        {"NCHW8c", {1, 33, 3, 3}, true},     {"NCHW16c", {2, 31, 7, 7}, true},
        {"NCHW16c", {1, 32, 130, 9}, true},  {"NCHW32c", {2, 33, 5, 7}, true},
        {"NCHW32c", {1, 64, 1, 1}, false},   {"NCHW4c", {2, 6, 6, 6}, true},
        {"NCHW12c", {1, 25, 5, 5}, true},    {"NCHW8c;C%24", {2, 9, 4, 5}, true},
        {"NHWC;C%8", {2, 13, 5, 7}, true},   {"HWNC", {5, 7, 6, 6}, true},
        {"NHWC;H%4", {2, 16, 5, 7}, false},  {"NHCW32c", {2, 33, 5, 7}, false},
        {"NCHW16c", {1, 16, 57, 113}, true}, {"CHWN", {16, 3, 5, 7}, true},
    };
    kiln *k = support_open()->kiln;
    kiln_device_kind kind = k->facts.kind;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int back = 0; back < 2; back++) {
            kiln_reformat r = {.dims = "NCHW", .from_type = types[i % 5], .pad_value = 3};
            memcpy(r.size, cases[i].size, sizeof cases[i].size);
            strcpy(back ? r.from : r.to, cases[i].to);
            k->facts.kind = KILN_DEVICE_CPU;
            fixture f = make(&r);
            ck_assert_msg((strcmp(kernel_of(&f), "reformat") != 0) == cases[i].tiled, "%s: %s",
                          cases[i].to, kernel_of(&f));
            k->facts.kind = KILN_DEVICE_GPU;
            fixture plain = make(&r);
            k->facts.kind = kind;
            ck_assert_str_eq(kernel_of(&plain), "reformat");
            size_t most = (size_t)(f.from.cells > f.to.cells ? f.from.cells : f.to.cells) * 4;
            void *source = malloc(most), *one = malloc(most), *other = malloc(most);
            fill(f.r.from_type, i, source, f.from.cells);
            run(&f, source, one);
            run(&plain, source, other);
            check_same(&f, one, other);
            kiln_op_release(f.op);
            kiln_op_release(plain.op);
            free(source);
            free(one);
            free(other);
        }
}
END_TEST

/* ---- what is refused ---- */

static void refused(kiln_status status, const kiln_reformat *r, const char *word)
{
    kiln_op *op = NULL;
    ck_assert_int_eq(kiln_reformat_create(support_open()->kiln, r, &op), status);
    ck_assert_ptr_null(op);
    ck_assert_msg(strstr(kiln_last_error(), word), "\"%s\" is not in: %s", word, kiln_last_error());
}

START_TEST(refusals)
{
    kiln *k = support_open()->kiln;
    int64_t width = k->facts.image_width;
    kiln_reformat r = {.size = {1, 4, 2, 5}, .from = "NCHW", .to = "IMG_CHANNEL_MAJOR"};
    k->facts.image_width = 4;
    refused(KILN_UNSUPPORTED, &r, "image width 5 exceeds the limit of 4");
    k->facts.image_width = 0;
    refused(KILN_UNSUPPORTED, &r, "no images");
    k->facts.image_width = width;
    r.to_type = KILN_BF16;
    refused(KILN_UNSUPPORTED, &r, "bf16");
    r.to_type = (kiln_type)99;
    refused(KILN_INVALID, &r, "type");
    r.to_type = KILN_F32;
    strcpy(r.to, "OIHW");
    refused(KILN_INVALID, &r, "OIHW");
    strcpy(r.to, "NHWC");
    r.size[2] = 0;
    refused(KILN_INVALID, &r, "dim H is 0");
    r.size[2] = (int64_t)1 << 45;
    refused(KILN_UNSUPPORTED, &r, "largest allocation");
    r = (kiln_reformat){.size = {1}, .dims = "N(HW", .to = "W"};
    refused(KILN_INVALID, &r, "capital letters");
    r = (kiln_reformat){.size = {1}, .to = "W"};
    refused(KILN_INVALID, &r, "dims");
}
END_TEST

static void wrong_tensor(const fixture *f, const kiln_buffers *b, const char *word)
{
    ck_assert_int_eq(kiln_op_enqueue(f->op, support_open()->queue, b, 0, NULL, NULL), KILN_INVALID);
    ck_assert_msg(strstr(kiln_last_error(), word), "\"%s\" is not in: %s", word, kiln_last_error());
}

START_TEST(tensors_that_do_not_fit)
{
    static float zeros[4096];
    const kiln_reformat r = {.size = {1, 8, 2, 5}, .from = "NCHW", .to = "IMG_CHANNEL_MAJOR"};
    fixture f = make(&r), half, small;
    kiln_reformat other = r;
    other.to_type = KILN_F16;
    half = make(&other);
    other = r;
    other.size[3] = 4;
    small = make(&other);
    cl_mem buffer = upload(&f.from, KILN_F32, zeros), image = upload(&f.to, KILN_F32, zeros);
    cl_mem half_image = upload(&half.to, KILN_F16, zeros);
    cl_mem small_image = upload(&small.to, KILN_F32, zeros);
    cl_mem small_buffer = upload(&small.from, KILN_F32, zeros);
    wrong_tensor(&f, &(kiln_buffers){.x = {buffer, 0}, .y = {buffer, 0}}, "2-D image");
    wrong_tensor(&f, &(kiln_buffers){.x = {buffer, 0}, .y = {half_image, 0}}, "CL_FLOAT");
    wrong_tensor(&f, &(kiln_buffers){.x = {buffer, 0}, .y = {small_image, 0}}, "10 x 2 pixels");
    wrong_tensor(&f, &(kiln_buffers){.x = {buffer, 0}, .y = {image, 64}}, "offset");
    wrong_tensor(&f, &(kiln_buffers){.x = {small_buffer, 0}, .y = {image, 0}}, "320 bytes");
    wrong_tensor(&f, &(kiln_buffers){.x = {image, 0}, .y = {image, 0}}, "must be a buffer");
    wrong_tensor(&f, &(kiln_buffers){.x = {buffer, 0}}, "y");
    const cl_mem all[] = {buffer, image, half_image, small_image, small_buffer};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        clReleaseMemObject(all[i]);
    kiln_op_release(f.op);
    kiln_op_release(half.op);
    kiln_op_release(small.op);
}
END_TEST

START_TEST(described)
{
    const kiln_reformat r = {.size = {1, 8, 2, 5}, .from = "NCHW", .to = "NHWC"};
    fixture f = make(&r);
    kiln_op_info info;
    kiln_op_describe(f.op, &info);
    ck_assert_str_eq(info.solver, "");
    ck_assert_int_eq(info.stages, 1);
    ck_assert_int_eq(info.workspace_size, 0);
    ck_assert_int_eq(info.deterministic, 1);
    ck_assert_ptr_nonnull(strstr(kiln_op_source(f.op, 0), "reformat.cl"));
    ck_assert_int_eq(kiln_op_pack(f.op, support_open()->queue, &(kiln_buffers){0}, 0, NULL, NULL),
                     KILN_INVALID);
    kiln_op_release(f.op);
}
END_TEST

int main(void)
{
    /* One context for all, and several hundred programs that nobody needs on disk. */
    setenv("KILN_CACHE", "off", 1);
    TCase *cases = tcase_create("reformat");
    tcase_add_test(cases, golden_storage);
    tcase_add_test(cases, every_pair_of_types);
    tcase_add_test(cases, every_short_float);
    tcase_add_test(cases, random_pairs);
    tcase_add_test(cases, tiles);
    tcase_add_test(cases, refusals);
    tcase_add_test(cases, tensors_that_do_not_fit);
    tcase_add_test(cases, described);
    Suite *suite = suite_create("reformat");
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
