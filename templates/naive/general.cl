/* general.cl: a forward pass of any size in any layout with a pitch, every size an argument.
 *
 * One program serves all problems of the same types and epilogue, so that an operation has a result
 * before its own program is compiled (settings.first_use). One item is one element of the
 * destination, or one cell of its padding:
 *
 *     x: channels of a group, in runs of neighbours      y
 *        | 0 .. 15 | 16 .. 31 | ...   at each tap   ->   one element
 *
 * Grid      the destination's cells in blocks of channels, {image, block, pixel, channel of the
 *           block}, the last fastest; one dimension, in groups of D_GROUP.
 * Defines   D_GROUP; epilogue.cl's.
 * Assumes   weights [k][c / g][d][h][w]; indices of 32 bits. x and y have a pitch: an element lies
 *           at image * n + block * (c / neighbours) + channel * (c % neighbours) + plane * d +
 *           row * h + pixel * w.
 *
 * A run of channels is summed in four sums, and runs are added to the total, as in naive.cl.
 */
#include "epilogue.cl"

#if SRC_TYPE == TYPE_I8 && !defined D_LONG_SUMS
#define SUM_T uint
#else
#define SUM_T ACC_T
#endif

typedef struct {
    int image, block, plane, row, pixel, channel, neighbours;
} pitch;

#define PITCH_PARAMS(T)                                                                            \
    int T##_image, int T##_block, int T##_plane, int T##_row, int T##_pixel, int T##_channel,      \
        int T##_neighbours
#define PITCH(T) {T##_image, T##_block, T##_plane, T##_row, T##_pixel, T##_channel, T##_neighbours}

typedef struct {
    int in, out, filter, stride, dilation, pad;
} axis_sizes;

#define AXIS_PARAMS(A)                                                                             \
    int in_##A, int out_##A, int filter_##A, int stride_##A, int dilation_##A, int pad_##A
#define AXIS(A) {in_##A, out_##A, filter_##A, stride_##A, dilation_##A, pad_##A}

/* The taps of output `at` along an axis that meet the source: the first one, its coordinate, and
 * how many there are. */
typedef struct {
    int tap, at, count;
} reach;

static inline reach reach_of(axis_sizes s, int at)
{
    const int first = at * s.stride - s.pad;
    const int skip = first < 0 ? (s.dilation - 1 - first) / s.dilation : 0;
    const int end = first < s.in ? min(s.filter, (s.in - 1 - first) / s.dilation + 1) : 0;
    reach r = {skip, first + skip * s.dilation, max(end - skip, 0)};
    return r;
}

static inline SUM_T sum_run(global const SRC_T *a, global const SRC_T *b, int count, int a_step,
                            int b_step)
{
    SUM_T s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int i = 0;
    for (; i < count - 3; i += 4) {
        s0 += SRC_LOAD(a, i * a_step) * SRC_LOAD(b, i * b_step);
        s1 += SRC_LOAD(a, (i + 1) * a_step) * SRC_LOAD(b, (i + 1) * b_step);
        s2 += SRC_LOAD(a, (i + 2) * a_step) * SRC_LOAD(b, (i + 2) * b_step);
        s3 += SRC_LOAD(a, (i + 3) * a_step) * SRC_LOAD(b, (i + 3) * b_step);
    }
    for (; i < count; i++)
        s0 += SRC_LOAD(a, i * a_step) * SRC_LOAD(b, i * b_step);
    return (s0 + s1) + (s2 + s3);
}

/* `cg` and `kg` are channels of one of `g` groups, `blocks` the destination's blocks of
 * channels. */
kernel GROUP_SIZE(D_GROUP, 1, 1) void general(global const SRC_T *restrict x,
                                              global const SRC_T *restrict w, global DST_T *y,
                                              int count, int g, int cg, int kg, int blocks,
                                              PITCH_PARAMS(x), PITCH_PARAMS(y), AXIS_PARAMS(d),
                                              AXIS_PARAMS(h), AXIS_PARAMS(w) EPILOGUE_PARAMS)
{
    if (get_global_id(0) >= (size_t)count)
        return;
    const pitch from = PITCH(x), to = PITCH(y);
    const axis_sizes sd = AXIS(d), sh = AXIS(h), sw = AXIS(w);
    int rest = (int)get_global_id(0);
    const int lane = rest % to.neighbours;
    rest /= to.neighbours;
    const int ow = rest % sw.out;
    rest /= sw.out;
    const int oh = rest % sh.out;
    rest /= sh.out;
    const int od = rest % sd.out;
    rest /= sd.out;
    const int block = rest % blocks, image = rest / blocks;
    const int k = block * to.neighbours + lane;
    const int at = image * to.image + block * to.block + lane * to.channel + od * to.plane +
                   oh * to.row + ow * to.pixel;
    if (k >= g * kg) {
        DST_STORE(y, at, (VAL_T)0);
        return;
    }
    const reach rd = reach_of(sd, od), rh = reach_of(sh, oh), rw = reach_of(sw, ow);
    const int taps = sd.filter * sh.filter * sw.filter, first = k / kg * cg;
    SUM_T sum = 0;
    for (int c = 0, run; c < cg; c += run) {
        const int in_block = (first + c) % from.neighbours;
        run = min(cg - c, from.neighbours - in_block);
        const int a = image * from.image + (first + c) / from.neighbours * from.block +
                      in_block * from.channel + rd.at * from.plane + rh.at * from.row +
                      rw.at * from.pixel;
        const int b = (k * cg + c) * taps + (rd.tap * sh.filter + rh.tap) * sw.filter + rw.tap;
        for (int i = 0; i < rd.count; i++)
            for (int j = 0; j < rh.count; j++)
                for (int l = 0; l < rw.count; l++)
                    sum += sum_run(x + a + i * sd.dilation * from.plane +
                                       j * sh.dilation * from.row + l * sw.dilation * from.pixel,
                                   w + b + (i * sh.filter + j) * sw.filter + l, run, from.channel,
                                   taps);
    }
    DST_STORE(y, at, FINISH((ACC_T)sum, k, at));
}
