/* Plans of reformats, without a device: the exact kernels, options and grids. */
#include "generator/plan/padding.h"
#include "generator/plan/reformat.h"
#include "support/suite.h"

#include <check.h>
#include <string.h>

static kiln_plan plan_of(const kiln_reformat *reformat, kiln_device_kind kind)
{
    static kiln_plan plan;
    kiln_reformat r = *reformat;
    kiln_storage from, to;
    char why[KILN_ERROR_TEXT] = "";
    kiln_device_facts d = kiln_device_generic();
    d.kind = kind;
    ck_assert_msg(kiln_reformat_check(&r, &from, &to, why) == KILN_OK, "%s", why);
    ck_assert_msg(kiln_reformat_plan(&r, &from, &to, &d, &plan, why), "%s", why);
    ck_assert_int_eq(plan.nstages, 1);
    return plan;
}

static void check_grid(const kiln_stage *s, size_t l0, size_t g0, size_t g1)
{
    ck_assert_uint_eq(s->local[0], l0);
    ck_assert_uint_eq(s->global[0], g0);
    ck_assert_uint_eq(s->global[1], g1);
}

START_TEST(gather_into_an_image)
{
    const kiln_reformat r = {.size = {2, 3, 5, 7},
                             .from = "NHWC",
                             .to = "NH|CW|4c",
                             .from_type = KILN_F32,
                             .to_type = KILN_F16};
    kiln_plan p = plan_of(&r, KILN_DEVICE_CPU);
    ck_assert_str_eq(p.stage[0].kernel, "reformat");
    ck_assert_str_eq(p.stage[0].options,
                     "-DSRC_TYPE=TYPE_F32 -DDST_TYPE=TYPE_F16 -DP_PAD=as_float(0x00000000u) "
                     "-DD_FROM=((n*5+h)*7+w)*3+c "
                     "-DD_COORDS=n=py/5,c=px/7*4+lane,h=py%5,w=px%7 -DD_INSIDE=c<3 "
                     "-DP_TO_IMAGE=1 -DP_WIDTH=7 -DP_HEIGHT=10");
    check_grid(&p.stage[0], 16, 7, 10);
    ck_assert_int_eq(p.image[KILN_ROLE_X].width, 0);
    ck_assert_int_eq(p.image[KILN_ROLE_Y].width, 7);
    ck_assert_int_eq(p.image[KILN_ROLE_Y].height, 10);
    ck_assert_int_eq(p.image[KILN_ROLE_Y].type, KILN_F16);
}
END_TEST

START_TEST(tiles_on_a_cpu)
{
    kiln_reformat r = {.size = {16, 60, 56, 56}, .from = "NCHW", .to = "NC/16HW16"};
    kiln_plan p = plan_of(&r, KILN_DEVICE_CPU);
    ck_assert_str_eq(p.stage[0].kernel, "split");
    ck_assert_str_eq(p.stage[0].options,
                     "-DSRC_TYPE=TYPE_F32 -DDST_TYPE=TYPE_F32 -DP_RAW=1 "
                     "-DP_PAD=as_float(0x00000000u) -DP_ROWS=60 -DP_COLUMNS=3136 -DD_BLOCK=16 "
                     "-DD_BLOCKS=4 -DD_SPAN=1024 -DD_SPANS=3 -DT_TILE=16");
    check_grid(&p.stage[0], 1, 3, 64);
    strcpy(r.from, "NC/16HW16");
    strcpy(r.to, "NCHW");
    ck_assert_str_eq(plan_of(&r, KILN_DEVICE_CPU).stage[0].kernel, "join");
}
END_TEST

/* A run of a tile has 128 bytes in the destination, and 16 KB are a tile. */
START_TEST(tiles_on_a_gpu)
{
    kiln_reformat r = {
        .size = {16, 60, 56, 56}, .from = "NCHW", .to = "NC/16HW16", .from_type = KILN_F16};
    kiln_plan p = plan_of(&r, KILN_DEVICE_GPU);
    ck_assert_str_eq(p.stage[0].kernel, "turn");
    ck_assert_str_eq(
        p.stage[0].options,
        "-DSRC_TYPE=TYPE_F16 -DDST_TYPE=TYPE_F16 -DP_RAW=1 -DP_PAD=as_float(0x00000000u) "
        "-DP_OUTER_0=16 -DP_OUTER_1=1 -DP_ROWS=60 -DP_COLUMNS=3136 -DD_SRC_OUTER_0=188160 "
        "-DD_SRC_OUTER_1=0 -DD_SRC_ROWS=60 -DD_SRC_NEIGHBOURS=60 -DD_SRC_BLOCK=0 "
        "-DD_SRC_ROW=3136 -DD_SRC_COLUMN=1 -DD_SRC_DOWN=0 -DD_SRC_VECTOR=8 -DD_SRC_RUN=128 "
        "-DD_DST_OUTER_0=200704 -DD_DST_OUTER_1=0 -DD_DST_ROWS=64 -DD_DST_NEIGHBOURS=16 "
        "-DD_DST_BLOCK=50176 -DD_DST_ROW=1 -DD_DST_COLUMN=16 -DD_DST_DOWN=1 -DD_DST_VECTOR=8 "
        "-DD_DST_RUN=16 -DT_ROWS=64 -DT_COLUMNS=128");
    check_grid(&p.stage[0], 256, 256 * 25 * 16, 1);
    strcpy(r.to, "NCHW");
    ck_assert_str_eq(plan_of(&r, KILN_DEVICE_GPU).stage[0].kernel, "reformat");
    strcpy(r.to, "NH|CW|4c");
    ck_assert_str_eq(plan_of(&r, KILN_DEVICE_GPU).stage[0].kernel, "reformat");
}
END_TEST

/* NCHW is blocks of NHWC and the reverse; the plan takes the shorter blocks. */
START_TEST(shorter_blocks)
{
    static const struct {
        const char *from, *to, *kernel;
        int64_t channels;
    } cases[] = {
        {"NCHW", "NHWC", "split", 32},
        {"NHWC", "NCHW", "join", 32},
        {"NCHW", "NHWC", "join", 320},
        {"NHWC", "NCHW", "split", 320},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kiln_reformat r = {.dims = "NCHW", .size = {1, cases[i].channels, 16, 16}};
        strcpy(r.from, cases[i].from);
        strcpy(r.to, cases[i].to);
        ck_assert_str_eq(plan_of(&r, KILN_DEVICE_CPU).stage[0].kernel, cases[i].kernel);
    }
}
END_TEST

START_TEST(wide_and_padded)
{
    const kiln_reformat big = {.size = {1 << 16, 1, 1 << 8, 1 << 8}, .from = "NCHW", .to = "CNHW"};
    const kiln_reformat small = {
        .size = {1 << 14, 1, 1 << 8, 1 << 8}, .from = "NCHW", .to = "CNHW"};
    const kiln_reformat pad = {.size = {1, 3, 2, 2},
                               .to = "NHWC8",
                               .dims = "NCHW",
                               .to_type = KILN_I32,
                               .pad_value = -1e20};
    ck_assert_ptr_nonnull(strstr(plan_of(&big, KILN_DEVICE_CPU).stage[0].options, "-DP_WIDE=1"));
    ck_assert_ptr_null(strstr(plan_of(&small, KILN_DEVICE_CPU).stage[0].options, "P_WIDE"));
    ck_assert_ptr_nonnull(
        strstr(plan_of(&pad, KILN_DEVICE_CPU).stage[0].options, "-DP_PAD=-2147483648 "));
}
END_TEST

START_TEST(defaults)
{
    kiln_reformat r = {.size = {1, 2, 3, 4}, .from = "kHWC", .from_type = KILN_I8};
    kiln_storage from, to;
    ck_assert_int_eq(kiln_reformat_check(&r, &from, &to, NULL), KILN_OK);
    ck_assert_str_eq(r.dims, "NCHW");
    ck_assert_str_eq(to.layout.spec, "NCHW");
    ck_assert_int_eq(r.to_type, KILN_I8);
}
END_TEST

/* OpenCL lets a device take groups of a single item. */
START_TEST(groups_fit_the_device)
{
    static const struct {
        const char *to;
        int64_t max_group, max_local;
        size_t local;
    } cases[] = {
        {"NHWC;C%8", 64, 64, 64}, {"NHWC;C%8", 48, 64, 32},   {"NHWC;C%8", 64, 8, 8},
        {"NHWC;C%8", 1, 1, 1},    {"NH|CW|4c", 16, 1024, 16}, {"NH|CW|4c", 1, 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static kiln_plan plan;
        kiln_device_facts d = kiln_device_generic();
        d.kind = KILN_DEVICE_OTHER;
        d.image_width = d.image_height = 8192;
        d.max_group = cases[i].max_group;
        d.max_local[0] = cases[i].max_local;
        kiln_reformat r = {.size = {2, 3, 5, 7}, .from = "NCHW"};
        kiln_storage from, to;
        char why[KILN_ERROR_TEXT] = "";
        strcpy(r.to, cases[i].to);
        ck_assert_msg(kiln_reformat_check(&r, &from, &to, why) == KILN_OK, "%s", why);
        ck_assert_msg(kiln_reformat_plan(&r, &from, &to, &d, &plan, why), "%s", why);
        ck_assert_uint_eq(plan.stage[0].local[0], cases[i].local);

        kiln_padded padded = {.type = KILN_F32, .size = {2, 3, 5, 7}};
        int64_t cells;
        strcpy(padded.layout, cases[i].to);
        strcpy(padded.dims, "NCHW");
        ck_assert_msg(kiln_padding_plan(&padded, &d, &plan, &cells, why), "%s", why);
        ck_assert_uint_eq(plan.stage[1].local[0], cases[i].local);
    }
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("reformat plan");
    tcase_add_test(cases, gather_into_an_image);
    tcase_add_test(cases, tiles_on_a_cpu);
    tcase_add_test(cases, tiles_on_a_gpu);
    tcase_add_test(cases, shorter_blocks);
    tcase_add_test(cases, wide_and_padded);
    tcase_add_test(cases, defaults);
    tcase_add_test(cases, groups_fit_the_device);
    Suite *suite = suite_create("reformat plan");
    suite_add_tcase(suite, cases);
    return support_run_apart(suite);
}
