/* Checks Winograd with integers that its transforms keep exact. */
#include "winograd_cases.h"

#include "driver/reference/verify.h"
#include "placed.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

const char *const winograd_solvers[WINOGRAD_SOLVERS] = {"winograd_fused", "winograd_staged"};

const char *const winograd_sizes[3] = {"T_T=4", "T_T=6", "T_T=8"};

kiln_problem winograd_problem(int64_t n, int64_t c, int64_t h, int64_t w, int64_t k)
{
    return (kiln_problem){.batch = n,
                          .in_channels = c,
                          .out_channels = k,
                          .input = {h, w},
                          .filter = {3, 3},
                          .pad_begin = {1, 1},
                          .pad_end = {1, 1}};
}

static const char *const layouts[][2] = {
    {"NCHW", "NCHW"}, {"NCHW16c", "NCHW16c"}, {"NCHW", "NCHW8c"}, {"NCHW4c", "NCHW"}};

enum { LAYOUTS = sizeof layouts / sizeof *layouts };

void winograd_set_layouts(kiln_problem *p, int which)
{
    strcpy(p->x_layout, layouts[which % LAYOUTS][0]);
    strcpy(p->y_layout, layouts[which % LAYOUTS][1]);
}

static void small_integers(float *v, int64_t count, uint64_t stream, int64_t most, float factor)
{
    for (int64_t i = 0; i < count; i++)
        v[i] = factor *
               (float)((int64_t)(host_random(1, stream, (uint64_t)i) % (uint64_t)(2 * most + 1)) -
                       most);
}

/* G has factors of 1/2 (T_T = 4) or 1/24 (T_T = 6), so weights are multiples of 4 or 576. Then
 * every intermediate number is an integer below 2^24. With larger tiles they are not integers, so
 * the bound decides, which is far below the distance of 576 between results. */
void winograd_check(const kiln_problem *given, const char *solver, const char *config)
{
    static const int destination[] = {2, 0, 1};
    const support_device *d = support_open();
    const kiln_choice choice = {
        .solver = solver, .config = config, .ignore_rows = 1, .native_layout = 1};
    char why[KILN_ERROR_TEXT], key[KILN_KEY_TEXT];
    kiln_problem p = *given;
    ck_assert_msg(kiln_problem_check(&p, why) == KILN_OK, "%s", why);
    kiln_problem_text(&p, key, sizeof key);
    kiln_op *op;
    ck_assert_msg(kiln_conv_create(d->kiln, &p, &choice, &op) == KILN_OK, "%s: %s", key,
                  kiln_last_error());
    kiln_op_info info;
    kiln_op_describe(op, &info);
    int to = destination[p.direction];
    placed_tensor t[3];
    placed_make(t, &p);
    for (int i = 0; i < 3; i++) {
        int64_t count = kiln_problem_count(&p, "xwy"[i]);
        if (i != to)
            small_integers(t[i].plain, count, (uint64_t)i, i == 1 ? 1 : 3, i == 1 ? 576 : 1);
        placed_upload(d, &t[i], i == to);
    }
    placed_enqueue(d, op, &info, t);
    placed_download(d, &t[to]);
    const reference_tensors r = {.x = t[0].plain, .w = t[1].plain, .y = t[2].plain};
    const verify_options o = {.exact = info.config[0] == '4' || info.config[0] == '6',
                              .amplification = info.amplification,
                              .arbitrary = true,
                              .poisoned = true};
    verify_result v = verify_destination(&p, &r, t[to].plain, &o);
    ck_assert_msg(v.ok, "%s with %s %s: %lld of %lld wrong; element %lld is %.9g, not %.9g", key,
                  solver, info.config, (long long)v.bad, (long long)v.total,
                  (long long)v.max_abs_at, v.got, v.expected);
    for (int i = 0; i < 3; i++)
        placed_free(&t[i]);
    kiln_op_release(op);
}

double winograd_patience(void)
{
    const char *text = getenv("CK_DEFAULT_TIMEOUT");
    return text ? 4 * strtod(text, NULL) : 1200;
}
