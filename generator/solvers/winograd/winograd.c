/* Decides when Winograd's minimal filtering applies, and derives its rounding errors from its
 * matrices. */
#include "winograd.h"

#include "generator/base/integers.h"
#include "generator/problem/problem_layout.h"

#include <math.h>
#include <string.h>

/* ---- errors ----
 *
 * One axis of F(m, r), y = A^T [(G w) * (B^T d)], by Toom and Cook's interpolation at m + r - 2
 * points and infinity (Lavin and Gray: Fast Algorithms for Convolutional Neural Networks, 2016). */
static const double points[] = {0, 1, -1, 2, -2, 0.5, -0.5, 0.75, -0.75};
enum { MOST_POINTS = sizeof points / sizeof *points };

/* Sum of |v_i|^power over the powers 0 to n - 1 of a point; infinity has only the last. */
static double powers(double point, int n, int power)
{
    double sum = 0, v = 1;
    for (int i = 0; i < n; i++, v *= point)
        sum += pow(fabs(v), power);
    return sum;
}

/* The sum of |coefficient|^power of the product of all (x - p), without the point at `left_out`. */
static double coefficients(int count, int left_out, int power)
{
    double c[MOST_POINTS + 1] = {1}, sum = 0;
    for (int p = 0, degree = 0; p < count; p++)
        if (p != left_out) {
            degree++;
            for (int i = degree; i >= 0; i--)
                c[i] = (i > 0 ? c[i - 1] : 0) - points[p] * c[i];
        }
    for (int i = 0; i <= count; i++)
        sum += pow(fabs(c[i]), power);
    return sum;
}

/* The sum over t of |A_it|^power times that norm of row t of G and of B^T, for the worst i, over
 * the r products that the sum replaces. The scaling of a row between A, B and G makes no
 * difference. */
static double growth(int m, int r, int power)
{
    double most = 0;
    int count = m + r - 2;
    if (r == 1)
        return 1; /* nothing is transformed */
    for (int i = 0; i < m; i++) {
        double sum = i == m - 1 ? coefficients(count, -1, power) : 0; /* infinity */
        for (int t = 0; t < count; t++) {
            double scale = 1;
            for (int p = 0; p < count; p++)
                if (p != t)
                    scale *= points[t] - points[p];
            sum += pow(fabs(pow(points[t], i) / scale), power) * powers(points[t], r, power) *
                   coefficients(count, t, power);
        }
        most = fmax(most, sum / r);
    }
    return most;
}

/* Along two axes each of these factors is the product over the axes.
 *
 * Worst case: with |d| <= X and |w| <= W, the absolute values that pass through the algorithm add
 * up to growth(1) of both axes times those of the r r' C products. Each product is rounded on its
 * way at most C + 30 times (10 for each of the three transforms: at most four operations an axis
 * and one constant), where the sum of products is rounded r r' C times. This is the norm-wise bound
 * of Barabasz, Anderson, Soodhalter and Gregg (Error Analysis and Improving the Accuracy of
 * Winograd Convolution for Deep Neural Networks, 2020), theorem 2, with the row sums of these
 * matrices.
 *
 * Random data: errors add up as the root of the sum of their squares, which is growth(2) of both
 * axes under the root. For 3x3 taps and t = 4: 7.1 and 1.7, t = 6: 256 and 31, t = 8: 509 and 46;
 * for 5x5 and t = 8: 301 and 30; for 1x7 and t = 8: 16 and 5, t = 10: 97 and 22. The larger of both
 * is sound for either kind of data. */
double kiln_winograd_amplification(int t, const int taps[2], int64_t channels)
{
    double c = (double)channels, worst = 1, likely = 1;
    for (int a = 0; a < 2; a++) {
        int m = taps[a] > 1 ? t - taps[a] + 1 : 1;
        worst *= growth(m, taps[a], 1);
        likely *= growth(m, taps[a], 2);
    }
    return fmax(sqrt(likely), worst * (c + 30) / (taps[0] * taps[1] * c + 1));
}

/* ---- geometry ---- */

/* Whether the layout is NHWC: blocks of any size lie in a pixel, one after the other. */
static bool has_whole_pixels(const char *layout)
{
    return strcmp(layout, "NHWC") == 0;
}

/* Returns the block of NCHW4c, NCHW8c, NCHW16c; 1 for NCHW and NHWC; 0 for anything else. */
static int block_of(const char *layout)
{
    static const struct {
        const char *name;
        int block;
    } known[] = {{"NCHW", 1},   {"", 1},       {"any", 1},     {"NHWC", 1},
                 {"NCHW4c", 4}, {"NCHW8c", 8}, {"NCHW16c", 16}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(layout, known[i].name) == 0)
            return known[i].block;
    return 0;
}

/* Returns the lanes of a vector, where no layout says otherwise. */
static int lanes(const kiln_device_facts *d)
{
    return d->simd_floats >= 16 ? 16 : d->simd_floats >= 8 ? 8 : 4;
}

static int lanes_of(const kiln_shape *s, const kiln_device_facts *d)
{
    int x = block_of(s->x_layout), y = block_of(s->y_layout);
    return x > 1 ? x : y > 1 ? y : lanes(d);
}

void kiln_winograd_prefer(const kiln_solver *self, kiln_shape *s, const kiln_device_facts *d)
{
    int block = lanes_of(s, d);
    const char *name = block == 16 ? "NCHW16c" : block == 8 ? "NCHW8c" : "NCHW4c";
    if (s->rank != 2)
        return;
    if (s->c / s->g >= block && (s->g == 1 || s->c / s->g % block == 0))
        kiln_prefer_layout(s->x_layout, name);
    if (s->k / s->g >= block && (s->g == 1 || s->k / s->g % block == 0))
        kiln_prefer_layout(s->y_layout, name);
}

static bool strided(const kiln_shape *s)
{
    return s->stride[KILN_AXIS_H] > 1 || s->stride[KILN_AXIS_W] > 1;
}

static bool dilated(const kiln_shape *s)
{
    return s->dilation[KILN_AXIS_H] > 1 || s->dilation[KILN_AXIS_W] > 1;
}

static bool reject_layouts(const kiln_shape *s, kiln_why *why)
{
    int x = block_of(s->x_layout), y = block_of(s->y_layout);
    if (!x || !y || (x > 1 && y > 1 && x != y))
        return kiln_no(why, "it works on NCHW, NHWC and NCHW4c, NCHW8c or NCHW16c, the same for x "
                            "and y if both have blocks");
    if (*s->w_layout && strcmp(s->w_layout, "OIHW") != 0 && !kiln_layout_is_any(s->w_layout))
        return kiln_no(why, "it works on weights in the layout OIHW");
    return false;
}

bool kiln_winograd_reject_problem(const kiln_shape *s, kiln_why *why)
{
    if (s->direction == KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does forward and backward data");
    if (s->rank != 2)
        return kiln_no(why, "it works on two spatial axes");
    int64_t taps[2];
    for (int a = 0; a < 2; a++) {
        if (s->stride[a + 1] > 2)
            return kiln_no(why, "Winograd's tiles are for stride 1 or 2");
        taps[a] = divide_up(s->filter[a + 1], s->stride[a + 1]);
        if (s->stride[a + 1] > 1 && s->direction == KILN_BACKWARD_DATA)
            return kiln_no(why, "backward data has tiles for stride 1 only");
    }
    int most = taps[0] > 1 && taps[1] > 1 ? WINOGRAD_SQUARE : WINOGRAD_LONGEST;
    if (taps[0] >= most || taps[1] >= most)
        return kiln_no(why, "Winograd's tiles are for at most %d taps along an axis", most - 1);
    if (strided(s) && dilated(s))
        return kiln_no(why, "Winograd's tiles are for a stride or a dilation, not for both");
    if (taps[0] == 1 && taps[1] == 1)
        return kiln_no(why, "a filter of one tap leaves Winograd's tiles nothing to save");
    if (s->math == KILN_MATH_EXACT)
        return kiln_no(why,
                       "the problem asks for plain sums of products, which Winograd's are not");
    if (kiln_type_is_integer(s->x_type) || kiln_type_is_integer(s->y_type))
        return kiln_no(why, "Winograd's transforms are not for integers");
    return false;
}

bool kiln_winograd_reject(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why)
{
    if (kiln_winograd_reject_problem(s, why) || reject_layouts(s, why))
        return true;
    int64_t block = lanes_of(s, d);
    if (s->g > 1 && (s->c / s->g % block || s->k / s->g % block))
        return kiln_no(why, "a group's channels, %lld and %lld, do not fill blocks of %lld",
                       (long long)(s->c / s->g), (long long)(s->k / s->g), (long long)block);
    if ((has_whole_pixels(s->x_layout) && s->c % block) ||
        (has_whole_pixels(s->y_layout) && s->k % block))
        return kiln_no(why, "in NHWC channels must fill vectors of %lld; these are %lld and %lld",
                       (long long)block, (long long)s->c, (long long)s->k);
    int64_t most = 1; /* with a dilation, each phase's last tile may reach beyond the image */
    for (int a = KILN_AXIS_H; a <= KILN_AXIS_W; a++) {
        int64_t side = s->in[a] > s->out[a] ? s->in[a] : s->out[a];
        int64_t extent = side + s->dilation[a] - 1;
        most *= extent < INT32_MAX ? extent : INT32_MAX;
    }
    if (most > INT32_MAX / 64 || most * s->n > INT32_MAX / 2)
        return kiln_no(why,
                       "its tiles are counted in 32 bits, and there are %lld images of %lld pixels",
                       (long long)s->n, (long long)most);
    return false;
}

/* Returns the elements from one pixel to the next of a tensor whose channels lie together; 0 where
 * they do not. */
static int64_t pixel_of(const char *layout, int64_t channels)
{
    const int block = block_of(layout);
    return has_whole_pixels(layout) ? channels : block > 1 ? block : 0;
}

kiln_winograd kiln_winograd_of(const kiln_shape *s, const kiln_device_facts *d)
{
    bool backward = s->direction == KILN_BACKWARD_DATA;
    kiln_winograd w = {
        .backward = backward,
        .images = s->n,
        .groups = s->g,
        .block = lanes_of(s, d),
        .src_pixel = backward ? pixel_of(s->y_layout, s->k) : pixel_of(s->x_layout, s->c),
        .dst_pixel = backward ? pixel_of(s->x_layout, s->c) : pixel_of(s->y_layout, s->k),
        .src_c = (backward ? s->k : s->c) / s->g,
        .dst_c = (backward ? s->c : s->k) / s->g,
    };
    w.src_ahead = !w.src_pixel && kiln_better_fetched(s, d);
    w.has_bf16 = d->has_bf16;
    w.dst_streamed = w.dst_pixel && kiln_better_streamed(s, d);
    w.cpu = d->cpu;
    w.cache = d->cache;
    w.waste = 1;
    int64_t phases = 1;
    for (int a = 0; a < 2; a++) {
        w.src[a] = backward ? s->out[a + 1] : s->in[a + 1];
        w.dst[a] = backward ? s->in[a + 1] : s->out[a + 1];
        w.filter[a] = s->filter[a + 1];
        w.stride[a] = s->stride[a + 1];
        w.dilation[a] = s->dilation[a + 1];
        w.taps[a] = (int)divide_up(w.filter[a], w.stride[a]);
        int64_t some = w.stride[a] < w.filter[a] ? w.stride[a] : w.filter[a];
        phases *= some;
        w.waste *= (double)(some * w.taps[a]) / (double)w.filter[a];
        int64_t reach = (w.filter[a] - 1) * w.dilation[a];
        w.lead[a] = backward ? reach - s->pad[a + 1] : s->pad[a + 1];
    }
    w.src_rows = phases * w.src_c;
    if (phases > 1 && w.src_pixel)
        w.src_rows = phases * divide_up(w.src_c, w.block) * w.block;
    w.src_ahead = w.src_ahead && phases == 1 && w.dilation[1] == 1;
    w.src_blocks = divide_up(w.src_rows, w.block);
    w.dst_blocks = divide_up(w.dst_c, w.block);
    return w;
}
