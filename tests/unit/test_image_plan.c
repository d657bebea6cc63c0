/* The solvers over images without a device: limits, filter layouts, plans. */
#include "generator/solvers/image/image.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kiln_problem problem(int64_t n, int64_t c, int64_t h, int64_t w, int64_t k)
{
    return (kiln_problem){.batch = n,
                          .in_channels = c,
                          .out_channels = k,
                          .input = {h, w},
                          .filter = {3, 3},
                          .pad_begin = {1, 1},
                          .pad_end = {1, 1},
                          .x_layout = "IMG_CHANNEL_MAJOR",
                          .y_layout = "IMG_CHANNEL_MAJOR"};
}

static kiln_device_facts device(int64_t width, int64_t height)
{
    kiln_device_facts d = kiln_device_generic();
    d.image_width = width;
    d.image_height = height;
    return d;
}

static kiln_shape shape_of(kiln_problem p)
{
    char why[KILN_ERROR_TEXT];
    ck_assert_msg(kiln_problem_check(&p, why) == KILN_OK, "%s", why);
    return kiln_shape_of(&p);
}

static bool takes(const char *solver, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_shape *own, kiln_why *why)
{
    kiln_shape native = *s;
    native.native_layout = true;
    return kiln_solver_takes(kiln_solver_named(solver), &native, d, own, why);
}

static kiln_plan plan_of(const char *name, const kiln_shape *s, const kiln_device_facts *d,
                         kiln_config *c)
{
    static kiln_plan plan;
    const kiln_solver *solver = kiln_solver_named(name);
    kiln_shape own;
    kiln_why why = {.text = ""};
    ck_assert_msg(takes(name, s, d, &own, &why), "%s", why.text);
    memset(c, 0, sizeof *c);
    solver->guess(solver, &own, d, c);
    ck_assert_msg(!kiln_config_refused(solver, &own, d, c, false, &why), "%s", why.text);
    ck_assert_msg(kiln_solver_plan(solver, &own, d, c, &plan, &why), "%s", why.text);
    return plan;
}

/* ---- limits of the device ---- */

static void refused(const char *solver, const kiln_shape *s, const kiln_device_facts *d,
                    const char *first, const char *second)
{
    kiln_shape own;
    kiln_why why = {.text = ""};
    ck_assert_msg(!takes(solver, s, d, &own, &why), "%s takes it", solver);
    ck_assert_msg(strstr(why.text, first) && strstr(why.text, second), "%s", why.text);
}

START_TEST(tensors_over_the_limit_are_refused_with_both_numbers)
{
    /* 256 * 65 pixels per row. */
    kiln_shape s = shape_of(problem(1, 257, 8, 256, 4));
    kiln_device_facts d = device(8192, 8192);
    refused("direct_image", &s, &d, "16640", "8192");
    refused("winograd_image", &s, &d, "16640", "8192");
    s = shape_of(problem(100, 4, 90, 8, 4));
    refused("direct_image", &s, &d, "9000", "8192");
    kiln_config c;
    d = device(16640, 9000);
    ck_assert(!plan_of("direct_image", &s, &d, &c).broken);
    d = device(0, 0);
    refused("direct_image", &s, &d, "no images", "");
}
END_TEST

/* Another solver asks for another layout. */
START_TEST(any_layout_gives_way)
{
    kiln_problem p = problem(1, 257, 8, 256, 4);
    const kiln_device_facts d = device(8192, 8192);
    strcpy(p.x_layout, "any");
    strcpy(p.y_layout, "any");
    kiln_shape s = shape_of(p), own;
    kiln_why why;
    refused("direct_image", &s, &d, "16640", "8192");
    ck_assert(takes("direct", &s, &d, &own, &why));
    ck_assert_str_eq(own.x_layout, "NCHW");
}
END_TEST

START_TEST(a_filter_that_is_too_tall_is_laid_flat)
{
    kiln_shape s = shape_of(problem(1, 3, 8, 8, 4000));
    kiln_config c;
    kiln_device_facts d = device(8192, 9000);
    kiln_plan plan = plan_of("direct_image", &s, &d, &c);
    ck_assert_int_eq(plan.image[KILN_ROLE_PACKED].width, 3);
    ck_assert_int_eq(plan.image[KILN_ROLE_PACKED].height, 9000);
    d = device(8192, 8999);
    plan = plan_of("direct_image", &s, &d, &c);
    ck_assert_int_eq(plan.image[KILN_ROLE_PACKED].width, 27);
    ck_assert_int_eq(plan.image[KILN_ROLE_PACKED].height, 1000);
    /* Neither fits: the message has the numbers of the first. */
    d = device(8192, 999);
    refused("direct_image", &s, &d, "9000", "999");
}
END_TEST

static int tile_size(const kiln_config *c)
{
    return c->v[0]; /* T_M */
}

START_TEST(winograd_takes_the_tile_that_fits)
{
    kiln_config c;
    /* 4 x 4 tiles: 36 * 300 rows of U; 2 x 2: 16 * 300. */
    kiln_shape s = shape_of(problem(1, 8, 16, 16, 300));
    kiln_device_facts d = device(8192, 10799);
    plan_of("winograd_image", &s, &d, &c);
    ck_assert_int_eq(tile_size(&c), 2);
    /* 2 x 2 tiles: 4 * 64 * 64 columns of V; 4 x 4: a quarter. */
    s = shape_of(problem(4, 8, 128, 128, 8));
    d = device(8192, 8192);
    plan_of("winograd_image", &s, &d, &c);
    ck_assert_int_eq(tile_size(&c), 4);
    d = device(4095, 8192);
    refused("winograd_image", &s, &d, "16384", "4095");
    const kiln_config wrong = {.v = {2, 1, 1, 1, 1}};
    kiln_why why;
    d = device(8192, 8192);
    ck_assert(kiln_config_refused(kiln_solver_named("winograd_image"), &s, &d, &wrong, true, &why));
    ck_assert_msg(strstr(why.text, "16384") && strstr(why.text, "8192"), "%s", why.text);
}
END_TEST

/* ---- plans ---- */

START_TEST(a_given_filter_needs_no_stage)
{
    kiln_problem p = problem(2, 5, 7, 9, 6);
    kiln_config c;
    const kiln_device_facts d = device(8192, 8192);
    strcpy(p.w_layout, "IMG_CONV_FILTER_FLAT_PADI");
    kiln_shape s = shape_of(p);
    kiln_plan plan = plan_of("direct_image", &s, &d, &c);
    ck_assert_int_eq(plan.nstages, 1);
    ck_assert_int_eq(plan.packed_bytes, 0);
    ck_assert_int_eq(plan.image[KILN_ROLE_W].width, 9 * 8);
    ck_assert_int_eq(plan.image[KILN_ROLE_W].height, 2);
    ck_assert_ptr_nonnull(strstr(plan.stage[0].options, "-DD_FLAT=8 "));
    strcpy(p.w_layout, "OIHW");
    s = shape_of(p);
    plan = plan_of("direct_image", &s, &d, &c);
    ck_assert_int_eq(plan.nstages, 2);
    ck_assert(plan.stage[0].pack && !plan.stage[1].pack);
    ck_assert_int_eq(plan.packed_bytes, 5 * 2 * 9 * 16);
    ck_assert_int_eq(kiln_plan_workspace(&plan, false), 0);
    ck_assert_int_eq(plan.image[KILN_ROLE_X].width, 18);
    ck_assert_int_eq(plan.image[KILN_ROLE_X].height, 14);
}
END_TEST

/* A bias in an argument image is read directly; for other images and other solvers a plain copy is
 * made.
 */
START_TEST(a_bias_is_an_image_or_is_made_plain)
{
    static const struct {
        const char *layout;
        int type;
        bool native;
    } biases[] = {{"IMG_ARGUMENT", KILN_F32, true},
                  {"IMG_ARGUMENT", KILN_F16, true},
                  {"W", KILN_F32, true},
                  {"W", KILN_F16, false},
                  {"W8w", KILN_F32, false}};
    static const char *const solvers[] = {"direct_image", "winograd_image", "direct"};
    const kiln_device_facts d = device(8192, 8192);
    kiln_problem p = problem(2, 5, 7, 9, 6);
    strcpy(p.x_layout, "any");
    strcpy(p.y_layout, "any");
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 3; j++) {
            kiln_shape s, own;
            kiln_plan plan;
            kiln_config c;
            kiln_why why;
            const kiln_solver *solver = kiln_solver_named(solvers[j]);
            p.epilogue.bias = biases[i].type;
            strcpy(p.bias_layout, biases[i].layout);
            s = shape_of(p);
            bool image = strcmp(biases[i].layout, "IMG_ARGUMENT") == 0;
            bool native = biases[i].native && !(image && j == 2);
            ck_assert_int_eq(takes(solvers[j], &s, &d, &own, &why), native);
            ck_assert_msg(native || strstr(why.text, "takes the bias as f32"), "%s", why.text);
            ck_assert(kiln_solver_takes(solver, &s, &d, &own, &why));
            solver->guess(solver, &own, &d, &c);
            ck_assert_msg(kiln_solver_plan(solver, &own, &d, &c, &plan, &why), "%s", why.text);
            ck_assert_int_eq(plan.image[KILN_ROLE_BIAS].width, image ? 2 : 0);
            bool made = !strcmp(plan.stage[0].template_file, "reformat.cl") && !plan.stage[0].pack;
            ck_assert_int_eq(made, !native);
        }
}
END_TEST

START_TEST(winograd_keeps_its_matrices_in_images)
{
    kiln_problem p = problem(2, 5, 8, 8, 6);
    const kiln_device_facts d = device(8192, 8192);
    kiln_shape s = shape_of(p);
    kiln_config c;
    kiln_plan plan = plan_of("winograd_image", &s, &d, &c);
    int64_t m = tile_size(&c), t = (m + 2) * (m + 2), tiles = 2 * (8 / m) * (8 / m);
    ck_assert_int_eq(plan.nstages, 4);
    ck_assert_int_eq(kiln_plan_workspace(&plan, false), 0);
    ck_assert_int_eq(plan.image[KILN_ROLE_PACKED].width, 2);
    ck_assert_int_eq(plan.image[KILN_ROLE_PACKED].height, t * 6);
    for (int i = 0; i < 2; i++) { /* V and M */
        ck_assert_int_eq(plan.temp[i].image.width, tiles);
        ck_assert_int_eq(plan.temp[i].image.height, t * 2);
    }
    ck_assert_int_eq(plan.image_bytes, 2 * tiles * t * 2 * 16);
    /* Images count against the workspace limit. */
    p.workspace_limit = plan.image_bytes + plan.packed_bytes - 1;
    s = shape_of(p);
    kiln_why why;
    ck_assert(!kiln_solver_plan(kiln_solver_named("winograd_image"), &s, &d, &c, &plan, &why));
    ck_assert_msg(strstr(why.text, "limit"), "%s", why.text);
}
END_TEST

/* The backward pass of a transposed convolution is a plain forward pass with exchanged tensors. */
START_TEST(mirrored_images_are_the_callers)
{
    kiln_problem p = problem(1, 6, 5, 9, 12);
    const kiln_device_facts d = device(8192, 8192);
    kiln_config c;
    p.transposed = 1;
    p.direction = KILN_BACKWARD_DATA;
    kiln_shape s = shape_of(p);
    kiln_plan plan = plan_of("direct_image", &s, &d, &c);
    ck_assert_int_eq(plan.image[KILN_ROLE_X].width, 9 * 2);
    ck_assert_int_eq(plan.image[KILN_ROLE_Y].width, 9 * 3);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("image_plan");
    tcase_add_test(c, tensors_over_the_limit_are_refused_with_both_numbers);
    tcase_add_test(c, any_layout_gives_way);
    tcase_add_test(c, a_filter_that_is_too_tall_is_laid_flat);
    tcase_add_test(c, winograd_takes_the_tile_that_fits);
    tcase_add_test(c, a_given_filter_needs_no_stage);
    tcase_add_test(c, a_bias_is_an_image_or_is_made_plain);
    tcase_add_test(c, winograd_keeps_its_matrices_in_images);
    tcase_add_test(c, mirrored_images_are_the_callers);
    Suite *s = suite_create("image_plan");
    suite_add_tcase(s, c);
    return support_run_apart(s);
}
