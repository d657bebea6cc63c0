/* Chains without a device: the search against every assignment, places that never meet, layouts of
 * a block with a residual, and links that do not fit. */
#include "runtime/chain/chain_arena.h"
#include "runtime/chain/chain_search.h"
#include "support/suite.h"
#include "kiln_chain.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int below(int n)
{
    return (int)(random() % n);
}

/* ---- the search ---- */

enum { STEPS = 7 };

static void make_steps(kiln_chain_step *steps)
{
    for (int i = 0; i < STEPS; i++) {
        steps[i] = (kiln_chain_step){.x = i == 0 || below(8) == 0 ? -1 : i - 1,
                                     .residual = i > 1 && below(2) ? below(i) : -1,
                                     .layouts = 1 + below(3)};
        for (int a = 0; a < KILN_CHAIN_LAYOUTS; a++)
            for (int b = 0; b < KILN_CHAIN_LAYOUTS; b++) {
                steps[i].ms[a][b] = below(12) ? 1 + below(100) : INFINITY;
                steps[i].residual_ms[a][b] = a == b ? 0 : below(40);
            }
    }
}

static double time_of(const kiln_chain_step *steps, const int *layout)
{
    double ms = 0;
    for (int i = 0; i < STEPS; i++) {
        ms += steps[i].ms[steps[i].x < 0 ? 0 : layout[steps[i].x]][layout[i]];
        if (steps[i].residual >= 0)
            ms += steps[i].residual_ms[layout[steps[i].residual]][layout[i]];
    }
    return ms;
}

static double best_of_all(const kiln_chain_step *steps)
{
    int layout[STEPS] = {0}, i = 0;
    double best = INFINITY;
    while (i < STEPS) {
        best = fmin(best, time_of(steps, layout));
        for (i = 0; i < STEPS && ++layout[i] == steps[i].layouts; i++)
            layout[i] = 0;
    }
    return best;
}

START_TEST(search_is_exact)
{
    kiln_chain_step steps[STEPS];
    int found = 0;
    srandom(1);
    for (int round = 0; round < 300; round++) {
        int layout[STEPS];
        double ms = 0;
        make_steps(steps);
        const double best = best_of_all(steps);
        const kiln_chain_found how = kiln_chain_search(steps, STEPS, layout, &ms);
        ck_assert_int_eq(how, isfinite(best) ? KILN_CHAIN_EXACT : KILN_CHAIN_NONE);
        if (how != KILN_CHAIN_EXACT)
            continue;
        found++;
        ck_assert_double_eq_tol(ms, best, 1e-9);
        ck_assert_double_eq_tol(time_of(steps, layout), best, 1e-9);
    }
    ck_assert_int_gt(found, 100);
}
END_TEST

/* Twelve tensors of six layouts in use at once are more than the search keeps; seventeen more than
 * it can tell apart. */
START_TEST(search_says_when_it_gives_up)
{
    enum { MANY = 40 };
    static kiln_chain_step steps[MANY];
    int layout[MANY];
    double ms;
    for (int live = 12; live <= 17; live += 5) {
        for (int i = 0; i < 2 * live; i++) {
            steps[i] = (kiln_chain_step){.x = i - 1, .residual = i - live, .layouts = 6};
            if (i < live)
                steps[i].residual = -1;
            for (int a = 0; a < 6; a++)
                for (int b = 0; b < 6; b++)
                    steps[i].ms[a][b] = a == 5 && b == 5 ? 1 : 2;
        }
        const kiln_chain_found how = kiln_chain_search(steps, 2 * live, layout, &ms);
        ck_assert_int_eq(how, live == 12 ? KILN_CHAIN_GOOD : KILN_CHAIN_TOO_MANY);
    }
}
END_TEST

/* ---- places ---- */

START_TEST(places_never_meet)
{
    enum { BLOCKS = 24, ALIGN = 128 };
    srandom(2);
    for (int round = 0; round < 200; round++) {
        kiln_arena_block b[BLOCKS];
        int64_t sum = 0;
        for (int i = 0; i < BLOCKS; i++) {
            b[i] = (kiln_arena_block){.bytes = below(5) ? 1 + below(5000) : 0, .first = below(20)};
            b[i].last = b[i].first + below(6);
            sum += b[i].bytes + ALIGN;
        }
        const int64_t size = kiln_arena_place(b, BLOCKS, ALIGN);
        ck_assert_int_le(size, sum);
        for (int i = 0; i < BLOCKS; i++) {
            ck_assert_int_eq(b[i].offset % ALIGN, 0);
            ck_assert_int_le(b[i].offset + b[i].bytes, size);
            for (int j = 0; j < i; j++)
                ck_assert(b[i].last < b[j].first || b[j].last < b[i].first ||
                          b[i].offset + b[i].bytes <= b[j].offset ||
                          b[j].offset + b[j].bytes <= b[i].offset);
        }
    }
}
END_TEST

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
    tcase_add_test(c, search_is_exact);
    tcase_add_test(c, search_says_when_it_gives_up);
    tcase_add_test(c, places_never_meet);
    tcase_add_test(c, a_block_with_a_residual);
    tcase_add_test(c, given_layouts_stay);
    tcase_add_test(c, links_that_do_not_fit);
    suite_add_tcase(s, c);
    return support_run_apart(s);
}
