/* Reformats on a device against the host: random pairs, conversions, tiles; what is refused. */
#include "driver/layout/layout_host.h"
#include "driver/reference/host.h"
#include "generator/base/types.h"
#include "runtime/kiln/kiln_internal.h"
#include "support/suite.h"

#include "reformats.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- against the host ---- */

static void against_host(const kiln_reformat *r, uint64_t seed)
{
    fixture f = make(r);
    check_against_host(&f, seed);
}

static const kiln_type types[] = {KILN_F32, KILN_F16,    KILN_BF16,  KILN_I8,
                                  KILN_I32, KILN_F8E4M3, KILN_F8E5M2};
enum { TYPES = sizeof types / sizeof *types };

START_TEST(every_pair_of_types)
{
    static const char *const to[] = {"NHCW4c", "NH|CW|4c"};
    for (int i = 0; i < TYPES * TYPES; i++)
        for (int tiled = 0; tiled < 2; tiled++) {
            kiln_reformat r = {.size = {2, 19, 5, 13}, .from = "NCHW", .pad_value = -2.5};
            r.from_type = types[i / TYPES];
            r.to_type = types[i % TYPES];
            strcpy(r.to, tiled ? "NCHW16c" : to[kiln_type_facts(r.to_type)->imaged && i % 2]);
            against_host(&r, (uint64_t)(i * 2 + tiled));
        }
}
END_TEST

/* Moves a tensor of all patterns of a type to every type, through the tiles and one by one. */
static void every_pattern(kiln_type from, void *all, const int64_t size[4])
{
    static uint32_t got[65536], wanted[65536];
    for (int j = 0; j < TYPES; j++)
        for (int k = 0; k < 2; k++) {
            kiln_reformat r = {.from = "NCHW", .from_type = from, .to_type = types[j]};
            memcpy(r.size, size, 4 * sizeof *size);
            strcpy(r.to, k ? "NHWC" : "HCNW");
            fixture f = make(&r);
            layout_host_convert(&f.r, &f.from, &f.to, all, wanted);
            run(&f, all, got);
            check_same(&f, got, wanted);
            kiln_op_release(f.op);
        }
}

START_TEST(every_short_float)
{
    static uint16_t all[65536];
    for (int i = 0; i < 65536; i++)
        all[i] = (uint16_t)i;
    every_pattern(KILN_F16, all, (int64_t[]){1, 64, 32, 32});
    every_pattern(KILN_BF16, all, (int64_t[]){1, 64, 32, 32});
}
END_TEST

START_TEST(every_byte_float)
{
    static unsigned char all[1024];
    for (int i = 0; i < 1024; i++)
        all[i] = (unsigned char)i;
    every_pattern(KILN_F8E4M3, all, (int64_t[]){1, 16, 8, 8});
    every_pattern(KILN_F8E5M2, all, (int64_t[]){1, 16, 8, 8});
}
END_TEST

START_TEST(random_pairs)
{
    static const char *const logical[] = {"NCHW", "OIHW", "NCDHW", "W", "MIHW"};
    enum { CASES = 48 };
    for (uint64_t i = 0, done = 0; done < CASES; i++) {
        const char *dims = logical[host_random(i, 1, 0) % 10 % 5];
        const kiln_layout_entry *side[2];
        kiln_type type[2];
        bool fine = true;
        for (int j = 0; j < 2; j++) {
            side[j] = kiln_layout_at((int)(host_random(i, 2, (uint64_t)j) % 60));
            type[j] = types[host_random(i, 3, (uint64_t)j) % TYPES];
            fine = fine && side[j] && strcmp(side[j]->dims, dims) == 0 &&
                   !(strchr(side[j]->spec, '|') && !kiln_type_facts(type[j])->imaged);
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
            kiln_reformat r = {.dims = "NCHW", .from_type = types[i % TYPES], .pad_value = 3};
            memcpy(r.size, cases[i].size, sizeof cases[i].size);
            strcpy(back ? r.from : r.to, cases[i].to);
            k->facts.kind = KILN_DEVICE_CPU;
            fixture f = make(&r);
            ck_assert_msg((strcmp(kernel_of(&f), "reformat") != 0) == cases[i].tiled, "%s: %s",
                          cases[i].to, kernel_of(&f));
            check_against_host(&f, i);
            k->facts.kind = kind;
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
    /* Hundreds of programs that nobody needs on disk. */
    setenv("KILN_CACHE", "off", 1);
    TCase *cases = tcase_create("reformat");
    tcase_add_test(cases, every_pair_of_types);
    tcase_add_test(cases, every_short_float);
    tcase_add_test(cases, every_byte_float);
    tcase_add_test(cases, random_pairs);
    tcase_add_test(cases, tiles);
    tcase_add_test(cases, refusals);
    tcase_add_test(cases, tensors_that_do_not_fit);
    tcase_add_test(cases, described);
    Suite *suite = suite_create("reformat");
    suite_add_tcase(suite, cases);
    return support_run_suite(suite);
}
