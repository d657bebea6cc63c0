/* Every legal config of ConvOclDirectFwd1x1 on a corpus of shapes, without a device: walks the grid
 * as the templates' head comments describe it, with the options of the plan alone, and counts the
 * elements that each work-item reads and writes. */
#include "generator/plan/solver.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const kiln_solver kiln_solver_miopen1x1;
static const kiln_solver *const solver = &kiln_solver_miopen1x1;

enum { LARGEST = 8192, KERNELS = 4096 };
static kiln_plan plan;
static unsigned short writes[LARGEST], terms[LARGEST];
static int64_t source_of[LARGEST]; /* where the first term was read; -1: a hole */

/* ck_assert() writes to a pipe even where it holds, which is too slow for every element. */
#define HOLDS(condition, ...) (!(condition) ? ck_abort_msg(__VA_ARGS__) : (void)0)

static const kiln_stage *launch(void)
{
    return &plan.stage[plan.nstages - 1];
}

static int64_t option(const char *name)
{
    char text[80];
    snprintf(text, sizeof text, "-D%s=", name);
    const char *at = launch()->options;
    while ((at = strstr(at, text)) != NULL && at != launch()->options && at[-1] != ' ')
        at++;
    HOLDS(at != NULL, "no %s in %s", name, launch()->options);
    return atoll(at + strlen(text));
}

/* The options of the last launch that a walk needs, read once because option() searches text. */
static struct s_options {
    int64_t forward, unit, maps, stride_w, stride_h, out_w, out_h, in_w, in_row, out_row,
        out_channel, out_batch, in_batch, terms, vert_aligned, horiz_aligned;
} so;

static void put(int64_t to, int64_t from, int64_t count)
{
    HOLDS(to >= 0 && to < LARGEST, "writes at %lld", (long long)to);
    writes[to]++;
    terms[to] = (unsigned short)(terms[to] + count);
    source_of[to] = from;
}

static void walk_j1(void)
{
    int64_t n = option("BATCHSIZE"), w = option("W"), hw = option("H") * w;
    int64_t w_out = option("W_out"), hw_out = option("H_out") * w_out;
    int64_t c = option("C"), k = option("K"), maps = option("MLO_N_LCL_OUT_MAPS");
    int64_t in_groups = option("MLO_N_IN_GROUPS"), out_groups = k / maps;
    int64_t in_maps = option("MLO_N_LCL_IN_MAPS"), once = option("MLO_N_LCL_IN_MAPS_ONCE");
    int64_t stride_w = option("MLO_FILTER_STRIDE0"), stride_h = option("MLO_FILTER_STRIDE1");
    int64_t cloop0 = option("MLO_CLOOP0"), cloop2 = option("MLO_CLOOP2");
    size_t size[3];
    kiln_stage_launch(launch(), size);
    ck_assert_uint_eq(launch()->local[0], 64);
    ck_assert_uint_eq(launch()->global[0], size[0]); /* MIOpen's rule rounds by itself */
    for (int64_t item = 0; item < (int64_t)size[0]; item++) {
        int64_t group = item / 64, in_block = group / out_groups % in_groups;
        int64_t pixel = group / out_groups / in_groups * 64 + item % 64;
        if (pixel >= n * hw_out)
            continue;
        int64_t image = pixel / hw_out, y = pixel % hw_out / w_out, x = pixel % w_out;
        int64_t steps = in_block == in_groups - 1 ? cloop2 : cloop0;
        HOLDS(steps >= 1 && in_block * in_maps + steps * once <= c, "reads past the last channel");
        for (int64_t o = group % out_groups * maps; o < (group % out_groups + 1) * maps; o++)
            put((image * k + o) * hw_out + y * w_out + x,
                image * c * hw + y * stride_h * w + x * stride_w, steps * once);
    }
}

static void read_s_options(void)
{
    so = (struct s_options){
        .forward = option("MLO_DIR_FORWARD"),
        .unit = option("MLO_READ_UNIT"),
        .maps = option("MLO_N_LCL_OUT_MAPS"),
        .stride_w = option("MLO_FILTER_STRIDE0"),
        .stride_h = option("MLO_FILTER_STRIDE1"),
        .out_w = option("MLO_OUT_WIDTH"),
        .out_h = option("MLO_OUT_HEIGHT"),
        .in_w = option("MLO_IN_WIDTH"),
        .in_row = option("MLO_IN_STRIDE"),
        .out_row = option("MLO_OUT_STRIDE"),
        .out_channel = option("MLO_OUT_CHANNEL_STRIDE"),
        .out_batch = option("MLO_OUT_BATCH_STRIDE"),
        .in_batch = option("MLO_IN_BATCH_STRIDE"),
        .terms = option("MLO_CLOOP0") * option("MLO_N_LCL_IN_MAPS"),
        .vert_aligned = option("MLO_VERT_ALIGNED"),
        .horiz_aligned = option("MLO_HORIZ_ALIGNED"),
    };
}

/* Walks the block of dx that one element of dy spreads to; `to` and `from` are the starts of the
 * channels.
 */
static void walk_s_block(int64_t to, int64_t from, int64_t row, int64_t column)
{
    HOLDS(column < so.in_w, "reads column %lld", (long long)column);
    for (int64_t y = row * so.stride_h; y < (row + 1) * so.stride_h; y++)
        for (int64_t x = column * so.stride_w; x < (column + 1) * so.stride_w; x++) {
            /* The kernel leaves these guards out where the options say "aligned". */
            if ((!so.vert_aligned && y >= so.out_h) || (!so.horiz_aligned && x >= so.out_w))
                continue;
            HOLDS(y < so.out_h && x < so.out_w, "writes outside its row or image");
            bool hole = y % so.stride_h != 0 || x % so.stride_w != 0;
            put(to + y * so.out_row + x, hole ? -1 : from + row * so.in_row + column, so.terms);
        }
}

static void walk_s_item(int64_t image, int64_t first, int64_t row, int64_t column)
{
    int64_t from = image * so.in_batch;
    for (int64_t o = first; o < first + so.maps; o++)
        for (int64_t i = column; i < column + so.unit; i++) {
            int64_t to = image * so.out_batch + o * so.out_channel;
            if (!so.forward)
                walk_s_block(to, from, row, i);
            else if (i < so.out_w)
                put(to + row * so.out_row + i,
                    from + row * so.stride_h * so.in_row + i * so.stride_w, so.terms);
        }
}

static void walk_s(void)
{
    read_s_options();

    int64_t per_image = option("MLO_MAP_SZ4"), unit = option("MLO_READ_UNIT");
    bool strided = option("MLO_FILTER_STRIDE0") > 1 || option("MLO_FILTER_STRIDE1") > 1;
    int64_t per_row = strided ? option("MLO_OUT_WIDTH4") : option("MLO_OUT_WIDTH") / unit;
    ck_assert(strided || option("MLO_OUT_WIDTH") % unit == 0);
    ck_assert_uint_eq(launch()->local[0], (size_t)option("MLO_GRP_SZ0"));
    ck_assert_uint_eq(launch()->global[1],
                      (size_t)(option("MLO_N_OUTPUTS") / option("MLO_N_LCL_OUT_MAPS")));
    ck_assert_uint_eq(launch()->global[0], (size_t)(option("MLO_BATCH_SZ") * per_image));
    for (int64_t block = 0; block < (int64_t)launch()->global[1]; block++)
        for (int64_t item = 0; item < (int64_t)launch()->global[0]; item++) {
            int64_t at = item % per_image;
            walk_s_item(item / per_image, block * so.maps, at / per_row, at % per_row * unit);
        }
}

/* Returns the source element of channel 0 that destination element `at` begins with; -1: a hole. */
static int64_t true_source(const kiln_shape *s, int64_t at)
{
    bool forward = s->direction == KILN_FORWARD;
    const int64_t *in = forward ? s->in : s->out, *out = forward ? s->out : s->in;
    int64_t channels = forward ? s->c : s->k, h = KILN_AXIS_H, w = KILN_AXIS_W;
    int64_t x = at % out[w], y = at / out[w] % out[h];
    int64_t image = at / out[w] / out[h] / (forward ? s->k : s->c);
    if (!forward && (x % s->stride[w] != 0 || y % s->stride[h] != 0))
        return -1;
    y = forward ? y * s->stride[h] : y / s->stride[h];
    x = forward ? x * s->stride[w] : x / s->stride[w];
    return (image * channels * in[h] + y) * in[w] + x;
}

static void check_config(const kiln_shape *s, const kiln_config *c, const char *what)
{
    kiln_device_facts d = kiln_device_generic();
    kiln_why why = {.text = ""};
    HOLDS(kiln_solver_plan(solver, s, &d, c, &plan, &why), "%s: %s", what, why.text);
    memset(writes, 0, sizeof writes);
    memset(terms, 0, sizeof terms);
    bool j1 = strcmp(launch()->template_file, "miopen1x1_j1.cl") == 0;
    if (j1)
        walk_j1();
    else
        walk_s();
    int64_t count = kiln_shape_out_count(s);
    bool split = plan.nstages == 2;
    ck_assert_int_eq(split, !plan.deterministic);
    for (int64_t i = 0; i < LARGEST; i++) {
        int64_t want = i >= count ? 0 : split ? option("MLO_N_IN_GROUPS") : 1;
        HOLDS(writes[i] == want, "%s: element %lld is written %d times, not %lld", what,
              (long long)i, writes[i], (long long)want);
        if (i >= count)
            continue;
        HOLDS(terms[i] == kiln_shape_terms(s), "%s: element %lld adds up %d terms", what,
              (long long)i, terms[i]);
        HOLDS(source_of[i] == true_source(s, i), "%s: element %lld begins at %lld", what,
              (long long)i, (long long)source_of[i]);
    }
}

/* The values a row may hold, well beyond the search grid. */
static const int groups[] = {1, 33, 256}, tiles[] = {0, 1, 2, 3, 4, 5, 6, 8, 16};
static const int outs[] = {1, 3, 4, 5, 8, 16, 24, 32, 48, 64, 128};
static const int ins[] = {1, 2, 3, 4, 8, 16, 24, 40, 64, 128, 2048};
#define EACH(i, array) for (size_t i = 0; i < sizeof array / sizeof *array; i++)

/* Returns whether this shape has had the same options and groups before. */
static bool seen_before(const kiln_shape *s, const kiln_config *c, int *kernels)
{
    static char seen[KERNELS][KILN_OPTIONS_TEXT];
    kiln_device_facts d = kiln_device_generic();
    kiln_why why;
    HOLDS(kiln_solver_plan(solver, s, &d, c, &plan, &why), "%s", why.text);
    for (int i = 0; i < *kernels; i++)
        if (strcmp(seen[i], launch()->options) == 0)
            return true;
    HOLDS(*kernels < KERNELS, "too many kernels");
    strcpy(seen[(*kernels)++], launch()->options);
    return false;
}

static int check_shape(kiln_problem p)
{
    char why_text[KILN_ERROR_TEXT];
    ck_assert_msg(kiln_problem_check(&p, why_text) == KILN_OK, "%s", why_text);
    kiln_shape s = kiln_shape_of(&p);
    ck_assert_int_lt(kiln_shape_out_count(&s), LARGEST);
    kiln_device_facts d = kiln_device_generic();
    int kernels = 0;
    EACH(g, groups) EACH(t, tiles) EACH(o, outs) EACH(i, ins)
    {
        kiln_config c = {{1, groups[g], 1, 1, 0, tiles[t], outs[o], ins[i], 0}};
        kiln_why why;
        if (kiln_config_refused(solver, &s, &d, &c, true, &why) || seen_before(&s, &c, &kernels))
            continue;
        char what[200];
        snprintf(what, sizeof what, "c%lld k%lld %lldx%lld s%lldx%lld dir%d %d,%d,%d,%d",
                 (long long)s.c, (long long)s.k, (long long)s.in[1], (long long)s.in[2],
                 (long long)s.stride[1], (long long)s.stride[2], s.direction, groups[g], tiles[t],
                 outs[o], ins[i]);
        check_config(&s, &c, what);
    }
    kiln_config c;
    kiln_why why;
    solver->guess(solver, &s, &d, &c);
    ck_assert(!kiln_config_refused(solver, &s, &d, &c, false, &why));
    check_config(&s, &c, "guess");
    return kernels;
}

static const int64_t corpus[][7] = {
    /* n c h w k stride_h stride_w */
    {1, 16, 1, 1, 16, 1, 1}, {3, 80, 3, 7, 48, 1, 1},  {2, 144, 2, 5, 32, 1, 1},
    {2, 48, 5, 9, 16, 2, 2}, {2, 32, 7, 10, 16, 3, 1}, {1, 64, 4, 11, 32, 1, 4},
    {2, 7, 5, 5, 10, 1, 1},  {2, 24, 4, 6, 20, 1, 1},  {1, 10, 6, 12, 33, 2, 2},
    {2, 6, 7, 8, 9, 1, 3},   {1, 9, 9, 8, 7, 4, 1},    {1, 5, 10, 38, 3, 4, 4},
    {1, 3, 13, 12, 5, 3, 3}, {1, 4, 5, 9, 6, 7, 50},   {2, 11, 1, 13, 12, 1, 2},
};

START_TEST(each_element_is_computed_once_from_the_right_place)
{
    kiln_problem p = {.filter = {1, 1}, .determinism = KILN_DETERMINISM_DEFAULT};
    const int64_t *shape = corpus[_i / 2];
    p.direction = _i % 2 ? KILN_BACKWARD_DATA : KILN_FORWARD;
    p.batch = shape[0];
    p.in_channels = shape[1];
    p.input[0] = shape[2];
    p.input[1] = shape[3];
    p.out_channels = shape[4];
    p.stride[0] = shape[5];
    p.stride[1] = shape[6];
    ck_assert_int_ge(check_shape(p), 8);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("miopen1x1 index");
    tcase_add_loop_test(tests, each_element_is_computed_once_from_the_right_place, 0,
                        2 * sizeof corpus / sizeof *corpus);
    Suite *suite = suite_create("miopen1x1 index");
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
