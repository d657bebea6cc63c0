/* Random legal problems, biased to the awkward, through every solver that takes them.
 *
 * A failure is shrunk and printed as a line for the command. KILN_RANDOM_SECONDS (60) says how long
 * to go on, KILN_RANDOM_SEED (1) where to begin, KILN_RANDOM_WORK (3e7) how many multiply-adds a
 * problem may have, KILN_RANDOM_SOLVERS (all) which solvers run, as "gemm,direct", KILN_RANDOM_EACH
 * (all) how many of the solvers that take a problem, drawn anew for each, KILN_RANDOM_PROBLEM
 * (random ones) which problem, again and again with other values, KILN_RANDOM_CONFIGS (2) in how
 * many configs beside the guess; KILN_DEVICE where to run.
 */
#include "generator/base/types.h"
#include "runtime/base/clock.h"
#include "runtime/kiln/kiln_internal.h"
#include "runtime/tune/candidates.h"
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include "problems.h"
#include "shrink.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double number_from(const char *name, double otherwise)
{
    const char *text = getenv(name);
    char *end;
    double value = text ? strtod(text, &end) : 0;
    return text && end != text ? value : otherwise;
}

/* ---- failures ---- */

typedef struct search {
    const support_device *on;
    support_case now;
    char config[KILN_INFO_TEXT]; /* where now.config points, if anywhere */
    dice dice;
    int failures, runs[64];         /* by solver */
    int64_t problems[3], unclaimed; /* by direction */
} search;

enum { ENOUGH = 3 }; /* failures */

/* The line that repeats what runs now: a kernel that writes where it must not may take the process
 * down with it. */
static char current[KILN_KEY_TEXT + 512];

static void set_line(const support_case *c)
{
    static const int mask[] = {1, 2, 4};
    char text[KILN_KEY_TEXT];
    kiln_problem_text(&c->problem, text, sizeof text);
    snprintf(current, sizeof current,
             "    kiln conv -F %d '--problem=%s' -S %s --fill %s --seed %llu%s%s\n",
             mask[c->problem.direction], text, c->solver, host_fill_name(c->fill),
             (unsigned long long)c->seed, c->config ? " --config=" : "",
             c->config ? c->config : "");
}

static void crashed(int signal_number)
{
    static const char text[] = "FAILED: the process crashed in\n";
    ssize_t done = write(STDOUT_FILENO, text, sizeof text - 1);
    done += write(STDOUT_FILENO, current, strlen(current));
    (void)done;
    raise(signal_number); /* the default action now */
}

static void watch_crashes(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL};
    struct sigaction action = {.sa_handler = crashed, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}

static support_verdict run_case(const support_case *c, char why[SUPPORT_TEXT])
{
    set_line(c);
    return support_run(c, why);
}

static bool still_fails(void *user, const kiln_problem *p)
{
    char why[SUPPORT_TEXT];
    support_case c = *(const support_case *)user;
    c.problem = *p;
    return run_case(&c, why) == SUPPORT_WRONG;
}

static void report(search *s, const char *why)
{
    char small_why[SUPPORT_TEXT];
    support_case small = s->now;
    double start = kiln_clock_seconds();
    printf("FAILED: %s\n", why);
    fputs(current, stdout);
    shrink(&small.problem, still_fails, &s->now, 150);
    run_case(&small, small_why);
    printf("  shrunk in %.1f s: %s\n", kiln_clock_seconds() - start, small_why);
    fputs(current, stdout);
    fflush(stdout);
    s->failures++;
}

/* ---- the search ---- */

/* False after a failure. */
static bool try_one(search *s, int solver)
{
    char why[SUPPORT_TEXT];
    support_verdict v = run_case(&s->now, why);
    s->runs[solver] += v != SUPPORT_REFUSED;
    if (v == SUPPORT_RIGHT || (v == SUPPORT_REFUSED && s->now.config))
        return true;
    report(s, v == SUPPORT_WRONG ? why : "explained as accepted, then refused");
    return false;
}

/* The guess, and a few legal configs by chance. */
static void try_solver(search *s, int index)
{
    const kiln_solver *solver = kiln_solver_at(index);
    kiln_shape given = kiln_shape_of(&s->now.problem), shape;
    kiln_why why;
    s->now.solver = solver->name;
    s->now.config = NULL;
    bool right = try_one(s, index);
    int64_t grid = 1;
    for (int i = 0; i < solver->nparams; i++)
        grid *= solver->params[i].nvalues;
    right = right && kiln_solver_takes(solver, &given, &s->on->kiln->facts, &shape, &why);
    const int configs = (int)number_from("KILN_RANDOM_CONFIGS", 2);
    for (int i = 0; i < configs && solver->nparams && right; i++) {
        int64_t position = dice_roll(&s->dice, 0, grid - 1);
        kiln_config c;
        if (!kiln_config_next(solver, &shape, &s->on->kiln->facts, &position, &c))
            continue;
        kiln_config_text(solver, &c, s->config, sizeof s->config);
        s->now.config = s->config;
        right = try_one(s, index);
    }
}

/* Axes in any order: nearly all of them are no solver's favourite. */
static void random_order(dice *d, int rank, char layout[KILN_LAYOUT_TEXT])
{
    static const char *const axes[] = {"NCW", "NCHW", "NCDHW"};
    strcpy(layout, axes[rank - 1]);
    for (int i = rank + 1; i > 0; i--) {
        const int64_t j = dice_roll(d, 0, i);
        const char axis = layout[i];
        layout[i] = layout[j];
        layout[j] = axis;
    }
}

/* Some solvers have layouts of their own; others work on whatever keeps channels together. */
static void random_layouts(dice *d, kiln_problem *p)
{
    static const char *const all[3][8] = {
        {"NWC", "NWC;C%8", "NCW4c", "NCW8c", "NCW16c", "NCW32c", "NWC;C%16", "any"},
        {"NHWC", "NHWC;C%8", "NCHW4c", "NCHW8c", "NCHW16c", "NCHW32c", "NHWC;C%16", "any"},
        {"NDHWC", "NDHWC;C%8", "NCDHW4c", "NCDHW8c", "NCDHW16c", "NCDHW32c", "NDHWC;C%16", "any"}};
    const int64_t how = dice_roll(d, 0, 5), x = how > 1 ? dice_roll(d, 0, 7) : 7;
    const int64_t y = how == 3 ? dice_roll(d, 0, 7) : x;
    if (how == 0)
        return;
    if (how == 5) {
        random_order(d, p->spatial_rank, p->x_layout);
        random_order(d, p->spatial_rank, p->y_layout);
        return;
    }
    /* There are no images of bfloat16 and of 8-bit floats. */
    const bool imaged = kiln_type_facts(p->x_type)->imaged && kiln_type_facts(p->y_type)->imaged;
    if (p->spatial_rank == 2 && imaged && dice_roll(d, 0, 5) == 0) {
        strcpy(p->x_layout, "IMG_CHANNEL_MAJOR");
        strcpy(p->y_layout, "IMG_CHANNEL_MAJOR");
        return;
    }
    strcpy(p->x_layout, all[p->spatial_rank - 1][x]);
    strcpy(p->y_layout, all[p->spatial_rank - 1][y]);
}

/* What most layers of networks are, and several solvers are for; chance alone hardly ever finds it.
 */
static void make_common(dice *d, kiln_problem *p, int64_t largest)
{
    const int64_t filter = dice_roll(d, 0, 2) ? 3 : 1, pad = dice_roll(d, 0, 1) ? filter / 2 : 0;
    p->x_layout[0] = p->w_layout[0] = p->y_layout[0] = '\0';
    p->spatial_rank = 2;
    p->transposed = 0;
    p->groups = 1;
    for (int i = 0; i < KILN_MAX_RANK; i++) {
        const bool used = i < 2;
        p->input[i] = used ? dice_roll(d, filter, largest + filter) : 0;
        p->filter[i] = used ? filter : 0;
        p->pad_begin[i] = p->pad_end[i] = used ? pad : 0;
        p->stride[i] = p->dilation[i] = p->output_pad[i] = 0;
    }
    if (filter == 3 || dice_roll(d, 0, 1))
        return;
    p->stride[0] = dice_roll(d, 1, 2);
    p->stride[1] = dice_roll(d, 1, 2);
}

/* Bytes with scales and zero points, as constants or in buffers. */
static void make_quantised(dice *d, kiln_problem *p)
{
    static const kiln_type results[] = {KILN_U8, KILN_I8, KILN_F32, KILN_F16, KILN_BF16};
    kiln_quant *q = &p->quant;
    p->direction = KILN_FORWARD;
    p->x_type = dice_roll(d, 0, 1) ? KILN_U8 : KILN_I8;
    p->w_type = KILN_I8;
    p->y_type = results[dice_roll(d, 0, 4)];
    p->epilogue = (kiln_epilogue){.bias = (int[]){0, KILN_F32, KILN_I32}[dice_roll(d, 0, 2)]};
    memset(p->bias_layout, 0, sizeof p->bias_layout);
    *q = (kiln_quant){.x_scale = 0.25f, .buffers = (int)dice_roll(d, 0, 7)};
    if (!(q->buffers & KILN_QUANT_X_ZERO))
        q->x_zero = (int)dice_roll(d, 0, 127);
    if (!(q->buffers & KILN_QUANT_W_ZERO))
        q->w_zero = (int)dice_roll(d, 0, 1) * (int)dice_roll(d, -128, 127);
    if (kiln_type_is_integer(p->y_type)) {
        q->y_scale = 8;
        q->y_zero = (int)dice_roll(d, 0, 127);
    }
    if (dice_roll(d, 0, 2))
        return;
    p->epilogue.beta = 1;
    q->residual_type = dice_roll(d, 0, 1) ? KILN_U8 : KILN_I8;
    q->residual_zero = (int)dice_roll(d, 0, 127);
    q->residual_after = (int)dice_roll(d, 0, 1);
}

/* Mostly small, where every border is; now and then large enough for the widest tiles. */
static kiln_problem next_problem(search *s)
{
    const double work = number_from("KILN_RANDOM_WORK", 3e7);
    static const struct {
        int64_t channels, input;
    } sizes[] = {{10, 8}, {40, 13}, {24, 40}, {150, 19}};
    for (;;) {
        int64_t which = dice_roll(&s->dice, 0, 7);
        which = which < 4 ? 0 : which < 6 ? 1 : which - 4;
        kiln_problem p = random_problem(&s->dice, sizes[which].channels, sizes[which].input);
        if (dice_roll(&s->dice, 0, 2) == 0)
            make_common(&s->dice, &p, sizes[which].input);
        if (dice_roll(&s->dice, 0, 7) == 0)
            support_set_types(
                &p, support_types_of[dice_roll(&s->dice, SUPPORT_TYPES, SUPPORT_ALL - 1)]);
        if (dice_roll(&s->dice, 0, 7) == 0)
            make_quantised(&s->dice, &p);
        random_layouts(&s->dice, &p);
        if (kiln_problem_check(&p, NULL) == KILN_OK &&
            (double)reference_count(&p) * (double)reference_terms(&p) < work)
            return p;
    }
}

static void try_problem(search *s)
{
    const kiln_problem *p = &s->now.problem;
    const char *only = getenv("KILN_RANDOM_SOLVERS");
    int taking[64], count = 0;
    kiln_verdict v;
    bool claimed = false;
    for (int i = 0; i < 64 && kiln_explain(s->on->kiln, p, i, &v) == KILN_OK; i++) {
        claimed = claimed || v.accepted;
        if (v.accepted && (!only || kiln_solver_is_among(kiln_solver_at(i), only)))
            taking[count++] = i;
    }
    if (!claimed && s->unclaimed++ == 0) {
        char text[KILN_KEY_TEXT];
        kiln_problem_text(p, text, sizeof text);
        printf("no solver takes %s\n", text);
    }
    s->problems[p->direction] += count > 0;
    while (count > (int)number_from("KILN_RANDOM_EACH", count)) {
        int64_t out = dice_roll(&s->dice, 0, count - 1);
        taking[out] = taking[--count];
    }
    for (int i = 0; i < count && s->failures < ENOUGH; i++)
        try_solver(s, taking[i]);
}

/* Problems in which such a search found a fault. */
static const char *const once_wrong[] = {
    /* 1x1 without stride or padding, but x and y differ in size. */
    "fwd-f32-n1-c1-k1-i4x4-f1x1-d1x2-trans-o0x1",
    "wrw-f32-n1-c1-k1-i4x4-f1x1-d1x2-trans-o0x1",
    /* Backward data with a stride, and no more than one of its phases. */
    "bwd-f32-n1-c1-k1-i1-f2-s2-p1",
    "bwd-f32-n2-c40-k80-i1x9-f2x2-s2x1-p1x4-g40",
    /* A loop with a barrier that PoCL 5.0 must not take for one that might be skipped. */
    "bwd-f32-n1-c1-k1-i7-f1-s3-p1",
    "fwd-f32-n1-c1-k1-i1-f4-s2-p1-trans",
    /* Steps of fewer channels than VNNI multiplies at once. */
    "bwd-i8-n1-c3-k21-i6x4-f3x1-p1x0-g3-l:NCHW32c.OIHW.NCHW4c",
    /* The gradient of a bias where channels of dy are neighbours. */
    "wrw-f32-n2-c1-k13-i5x6-f3x3-p1x1-l:NHWC.OIHW.NHWC-bias",
    "wrw-f32-n1-c2-k4-i3x5-f2x3-s1x2-trans-l:NHWC;C%8.OIHW.NHWC;C%8-bias",
};

START_TEST(stays_right)
{
    char why[KILN_ERROR_TEXT];
    search s = {.on = support_open(), .dice = {.seed = 1}};
    s.now.fill = HOST_FILL_INT;
    s.now.seed = 1;
    ck_assert_int_eq(kiln_problem_parse(&s.now.problem, once_wrong[_i], why), KILN_OK);
    try_problem(&s);
    ck_assert_int_eq(s.failures, 0);
}
END_TEST

START_TEST(random_problems)
{
    double start = kiln_clock_seconds(), limit = number_from("KILN_RANDOM_SECONDS", 60);
    uint64_t seed = (uint64_t)number_from("KILN_RANDOM_SEED", 1);
    watch_crashes();
    search s = {.on = support_open(), .dice = {.seed = seed}};
    const char *only = getenv("KILN_RANDOM_PROBLEM");
    kiln_problem named;
    char why[KILN_ERROR_TEXT];
    if (only)
        ck_assert_msg(kiln_problem_parse(&named, only, why) == KILN_OK, "KILN_RANDOM_PROBLEM: %s",
                      why);
    while (kiln_clock_seconds() < start + limit && s.failures < ENOUGH) {
        s.now.problem = only ? named : next_problem(&s);
        s.now.fill = (host_fill)dice_roll(&s.dice, 0, 2);
        s.now.seed = (uint64_t)dice_roll(&s.dice, 1, 999999);
        try_problem(&s);
    }
    printf("seed %llu, %.0f s, problems: forward %lld, backward data %lld, backward weights %lld; "
           "runs:",
           (unsigned long long)seed, kiln_clock_seconds() - start,
           (long long)s.problems[KILN_FORWARD], (long long)s.problems[KILN_BACKWARD_DATA],
           (long long)s.problems[KILN_BACKWARD_WEIGHTS]);
    for (int i = 0; kiln_solver_at(i); i++)
        printf(" %s %d", kiln_solver_at(i)->name, s.runs[i]);
    printf("\n");
    ck_assert_int_eq(s.failures, 0);
    ck_assert_msg(s.unclaimed == 0, "no solver takes %lld of the problems", (long long)s.unclaimed);
}
END_TEST

/* ---- the shrinking itself ---- */

static bool fails_in_a_corner(void *user, const kiln_problem *p)
{
    (*(int *)user)++;
    return p->in_channels / p->groups >= 5 && p->stride[p->spatial_rank - 1] >= 2 &&
           p->direction == KILN_FORWARD;
}

START_TEST(shrinks)
{
    char text[KILN_KEY_TEXT];
    int tries = 0;
    kiln_problem p = {.batch = 3,
                      .in_channels = 66,
                      .out_channels = 21,
                      .groups = 3,
                      .spatial_rank = 3,
                      .input = {9, 17, 40},
                      .filter = {3, 3, 5},
                      .stride = {2, 1, 7},
                      .pad_begin = {1, 2, 3},
                      .dilation = {1, 2, 1},
                      .x_type = KILN_F16,
                      .w_type = KILN_F16,
                      .y_type = KILN_F16,
                      .epilogue = {.bias = 1, .beta = 2, .activation = KILN_ELU, .param = {1}}};
    ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
    shrink(&p, fails_in_a_corner, &tries, 1000);
    kiln_problem_text(&p, text, sizeof text);
    ck_assert_str_eq(text, "fwd-f32-n1-c5-k1-i1-f1-s2");
    ck_assert_int_lt(tries, 200);
}
END_TEST

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    Suite *s = suite_create("random");
    TCase *c = tcase_create("random");
    tcase_set_timeout(c, 600 + number_from("KILN_RANDOM_SECONDS", 60));
    tcase_add_test(c, shrinks);
    tcase_add_test(c, random_problems);
    suite_add_tcase(s, c);
    TCase *known = tcase_create("once_wrong");
    tcase_set_timeout(known, 600);
    tcase_add_loop_test(known, stays_right, 0, sizeof once_wrong / sizeof *once_wrong);
    suite_add_tcase(s, known);
    return support_run_apart(s);
}
