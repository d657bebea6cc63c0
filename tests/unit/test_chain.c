/* Chains without a device: layouts of a block with a residual, and links that do not fit. */
#include "support/suite.h"
#include "kiln_chain.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- links ---- */

static kiln_problem convolution(int64_t c, int64_t k, int64_t groups, int filter)
{
    kiln_problem p = {.batch = 1,
                      .in_channels = c,
                      .out_channels = k,
                      .groups = groups,
                      .input = {14, 14},
                      .filter = {filter, filter},
                      .pad_begin = {filter / 2, filter / 2},
                      .pad_end = {filter / 2, filter / 2},
                      .x_layout = "any",
                      .y_layout = "any"};
    return p;
}

/* Narrow, wide, depthwise, narrow with the first one's y as its residual. */
static void make_block(kiln_link links[4])
{
    memset(links, 0, 4 * sizeof *links);
    links[0].problem = convolution(3, 32, 1, 3);
    strcpy(links[0].problem.x_layout, "NCHW");
    links[1].problem = convolution(32, 96, 1, 1);
    links[2].problem = convolution(96, 96, 96, 3);
    links[3].problem = convolution(96, 32, 1, 1);
    links[3].problem.epilogue.beta = 1;
    for (int i = 1; i < 4; i++)
        links[i].x_back = 1;
    links[3].residual_back = 3;
}

static void check_edge(const kiln_link *links, int i, const char *reads, int back,
                       const kiln_reformat *r, int64_t offset)
{
    const kiln_link *from = &links[i - back];
    if (*r->to) {
        ck_assert_str_eq(r->from, from->problem.y_layout);
        ck_assert_str_eq(r->to, reads);
        ck_assert_int_ne(offset, from->y_offset);
    } else {
        ck_assert_str_eq(reads, from->problem.y_layout);
        ck_assert_int_eq(offset, from->y_offset);
    }
}

START_TEST(a_block_with_a_residual)
{
    kiln *k;
    kiln_link links[4];
    kiln_chain_info info;
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, NULL), KILN_OK);
    make_block(links);
    ck_assert_msg(kiln_chain(k, links, 4, &info) == KILN_OK, "%s", kiln_last_error());
    double ms = 0;
    int reformats = 0;
    for (int i = 0; i < 4; i++) {
        const kiln_link *l = &links[i];
        ck_assert_str_ne(l->problem.x_layout, "any");
        ck_assert_str_ne(l->problem.y_layout, "any");
        ck_assert_int_ge(l->y_offset, 0);
        ck_assert_int_le(l->y_offset + kiln_problem_bytes(&l->problem, 'y', NULL), info.arena_size);
        if (l->x_back)
            check_edge(links, i, l->problem.x_layout, l->x_back, &l->x_reformat, l->x_offset);
        if (l->residual_back)
            check_edge(links, i, l->problem.y_layout, l->residual_back, &l->residual_reformat,
                       l->residual_offset);
        ms += l->predicted_ms;
        reformats += *l->x_reformat.to != 0;
        reformats += *l->residual_reformat.to != 0;
    }
    ck_assert_double_eq_tol(ms, info.predicted_ms, 1e-9);
    ck_assert_int_eq(reformats, info.reformats);
    ck_assert_int_eq(info.exact, 1);
    ck_assert_str_eq(links[0].problem.x_layout, "NCHW");
    ck_assert_int_eq(links[0].x_offset, -1);
    if (!*links[3].residual_reformat.to)
        ck_assert_int_eq(links[3].y_offset, links[3].residual_offset);
    kiln_close(k);
}
END_TEST

/* No wish of the chain overrules a layout that the caller has given. */
START_TEST(given_layouts_stay)
{
    static const char *const given[] = {"NCHW", "NHWC", "NCHW16c", "NHWC"};
    kiln *k;
    kiln_link links[4];
    kiln_chain_info info;
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, NULL), KILN_OK);
    make_block(links);
    for (int i = 0; i < 4; i++)
        strcpy(links[i].problem.y_layout, given[i]);
    strcpy(links[2].problem.x_layout, "NCHW16c");
    ck_assert_msg(kiln_chain(k, links, 4, &info) == KILN_OK, "%s", kiln_last_error());
    for (int i = 0; i < 4; i++)
        ck_assert_str_eq(links[i].problem.y_layout, given[i]);
    ck_assert_str_eq(links[2].x_reformat.from, "NHWC");
    ck_assert_str_eq(links[2].x_reformat.to, "NCHW16c");
    ck_assert_str_eq(links[3].residual_reformat.from, "NCHW");
    ck_assert_str_eq(links[3].residual_reformat.to, "NHWC");
    ck_assert_int_ge(info.reformats, 2);
    kiln_close(k);
}
END_TEST

/* ---- refusals ---- */

static void check_refused(kiln *k, const kiln_link *links, kiln_status status, const char *says)
{
    kiln_link copy[4];
    kiln_chain_info info;
    memcpy(copy, links, sizeof copy);
    ck_assert_int_eq(kiln_chain(k, copy, 4, &info), status);
    ck_assert_msg(strstr(kiln_last_error(), says), "%s, not \"%s\"", kiln_last_error(), says);
    ck_assert(memcmp(copy, links, sizeof copy) == 0);
}

#define REFUSED(status, says, ...)                                                                 \
    do {                                                                                           \
        kiln_link l[4];                                                                            \
        make_block(l);                                                                             \
        __VA_ARGS__;                                                                               \
        check_refused(k, l, status, says);                                                         \
    } while (0)

START_TEST(links_that_do_not_fit)
{
    kiln *k;
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, NULL), KILN_OK);
    REFUSED(KILN_INVALID, "link 1: x_back is 2", l[1].x_back = 2);
    REFUSED(KILN_INVALID, "link 1: x_back is -1", l[1].x_back = -1);
    REFUSED(KILN_INVALID, "link 2: the y of link 0, its x, has another number of channels",
            l[2].x_back = 2);
    REFUSED(KILN_INVALID, "link 3: the y of link 2, its residual, has another number of channels",
            l[3].residual_back = 1);
    REFUSED(KILN_INVALID, "link 3: residual_back is 3, but epilogue.beta is 0",
            l[3].problem.epilogue.beta = 0);
    REFUSED(KILN_INVALID, "link 2: the y of link 1, its x, has another size",
            l[2].problem.input[1] = 15);
    REFUSED(KILN_INVALID, "link 2: the y of link 1, its x, has another batch",
            l[2].problem.batch = 2);
    REFUSED(KILN_INVALID, "link 1: the y of link 0, its x, has another type",
            l[1].problem.x_type = KILN_F16);
    REFUSED(KILN_INVALID, "link 0: its direction is bwd",
            l[0].problem.direction = KILN_BACKWARD_DATA);
    REFUSED(KILN_INVALID, "link 3: in_channels is 0", l[3].problem.in_channels = 0);
    REFUSED(KILN_UNSUPPORTED, "link 1: the layout of y is an image",
            strcpy(l[1].problem.y_layout, "NH|CW|4c"));
    ck_assert_int_eq(kiln_chain(k, NULL, 0, NULL), KILN_OK);
    kiln_close(k);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("chain");
    TCase *c = tcase_create("chain");
    tcase_add_test(c, a_block_with_a_residual);
    tcase_add_test(c, given_layouts_stay);
    tcase_add_test(c, links_that_do_not_fit);
    suite_add_tcase(s, c);
    return support_run_apart(s);
}
