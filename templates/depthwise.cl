/* depthwise.cl: convolutions with one input channel per group, in all three directions.
 *
 * One item computes T_ROWS rows of T_PIX vectors of T_VEC columns of one image plane (and of every
 * output channel of its group). First it copies the piece of the source that it needs into a small
 * buffer, with zeros for the border and, with a stride, sorted into slots by remainder, so that
 * each tap reads whole vectors at one fixed offset (see direct_lines.cl for the idea):
 *
 *          T_PIX * T_VEC            buffer, 3x3:   0 x x x x x
 *     T_ROWS  y y y y                              0 x x x x x     T_ROWS + D_REACH_H rows of
 *             y y y y                              0 x x x x x     T_PIX * T_VEC + D_REACH_W
 *                                                  0 x x x x x
 *
 * With T_VEC=1 there is no buffer: every element is read where it lies, behind a guard, which is
 * what a GPU wants, neighbouring items having neighbouring columns.
 *
 * Backward data is the same with dy as the source and offsets that run backwards, once for each
 * phase of dx (position modulo stride), summed over the output channels of the group.
 *
 * Backward weights (D_WEIGHTS=1): one item sums D_TAP_ROWS rows of the filter of one output channel
 * over its share of the rows of all images, in the same pieces; lanes are added up at the end. With
 * T_SPLIT > 1 shares, the sums stay apart and sum_parts.cl adds them.
 *
 * Grid of depthwise: (ceil(D_GRID_W / (T_PIX * T_VEC)), ceil(D_GRID_H / T_ROWS), P_N * P_GROUPS * P_DST_D);
 * of depthwise_weights: (P_FILTER_D * ceil(P_FILTER_H / D_TAP_ROWS), P_GROUPS * D_MULTIPLE, T_SPLIT).
 *
 * Defines, besides those of the files included; _a stands for each of _D, _H, _W:
 *   D_BACKWARD            1: backward data
 *   P_GROUPS, D_MULTIPLE  input channels, and output channels of each
 *   P_SRC_a, P_DST_a, P_FILTER_a, P_STRIDE_a, P_DILATION_a, P_PAD_a
 *   D_GRID_a, D_REACH_a, D_STEP_a, D_LEAD_a, D_SLOTS_a, D_PERIOD_a   as in direct_lines.cl
 *   T_VEC T_PIX T_ROWS    tile of one item, as above (T_PIX=1 with T_VEC=1); D_ROW is T_VEC unless
 *                         that is 1
 *   T_GROUP               items of a group along a row
 *   P_N, D_TAP_ROWS, T_SPLIT   for backward weights, as above
 */
#include "epilogue.cl"
#include "rows.cl"

#define D_ROWS (T_ROWS + D_REACH_H)
#define D_PITCH (T_PIX * T_VEC + D_REACH_W)
#define D_SECTION (D_SLOTS_H * D_ROWS * D_SLOTS_W * D_PITCH)
#define D_SRC_PLANE ((INDEX_T)P_SRC_H * P_SRC_W)
#define D_DST_PLANE ((INDEX_T)P_DST_H * P_DST_W)
#define D_TAPS (P_FILTER_H * P_FILTER_W)
/* Sources of one destination: dy of every output channel of the group, or the one x. */
#define D_SOURCES (D_BACKWARD ? D_MULTIPLE : 1)

#if T_VEC == 1
#define ACC_V ACC_T
#else
#define ACC_V KILN_CAT(ACC_T, T_VEC)
#define LOADV(p) KILN_CAT(vload, T_VEC)(0, p)
#define STOREV(v, p) KILN_CAT(vstore, T_VEC)(v, 0, p)
#endif

#define ELEMENT(v, slot, a)                                                                        \
    ((v) * D_STEP_##a + (slot) * P_DILATION_##a % P_STRIDE_##a - D_LEAD_##a)

#if T_VEC > 1
#define D_SRC_COUNT ((INDEX_T)P_N * P_GROUPS * D_SOURCES * P_SRC_D * D_SRC_PLANE)

/* Positions v .. of a row whose positions low .. high - 1 are elements and the others border; the
 * first of them is, or would be, element `at`. */
static inline ACC_V positions(global const SRC_T *src, const INDEX_T at, const int v, const int low,
                              const int high)
{
#if D_STEP_W <= 2
    /* What lies before or behind the row is read and dropped, if only it is part of the tensor. */
    if (at >= 0 && at <= D_SRC_COUNT - D_STEP_W * T_VEC) {
#if D_STEP_W == 1
        const ACC_V all = SRC_LOADN(T_VEC, src, at);
#else
        const ACC_V all =
            (ACC_V)(SRC_LOADN(T_VEC, src, at).even, SRC_LOADN(T_VEC, src, at + T_VEC).even);
#endif
        const KILN_CAT(int, T_VEC) lane = v + LANES(T_VEC);
        return (lane >= low && lane < high) ? all : (ACC_V)(0);
    }
#endif
    ACC_T some[T_VEC];
    for (int l = 0; l < T_VEC; l++)
        some[l] = v + l >= low && v + l < high ? SRC_LOAD(src, at + l * D_STEP_W) : 0;
    return LOADV(some);
}

/* The buffer's rows and columns from line position (row0, col0) of a source plane, which starts at
 * element `plane`. */
static void fill(global const SRC_T *src, const INDEX_T plane, private ACC_T *to, int row0,
                 int col0)
{
    for (int slot_h = 0; slot_h < D_SLOTS_H; slot_h++)
        for (int row = 0; row < D_ROWS; row++) {
            const int h = ELEMENT(row0 + row, slot_h, H);
            for (int slot_w = 0; slot_w < D_SLOTS_W; slot_w++, to += D_PITCH) {
                const int w0 = ELEMENT(col0, slot_w, W);
                const int low = max((D_STEP_W - 1 - w0) / D_STEP_W, 0);
                const int high = h < 0 || h >= P_SRC_H || w0 >= P_SRC_W
                                     ? 0
                                     : (P_SRC_W - 1 - w0) / D_STEP_W + 1;
                const INDEX_T at = plane + (INDEX_T)h * P_SRC_W + w0;
                /* The last vector starts earlier where the row is no multiple of them. */
                for (int i = 0; i < D_PITCH; i += T_VEC) {
                    const int v = min(i, D_PITCH - T_VEC);
                    STOREV(high ? positions(src, at + v * D_STEP_W, v, low, high) : (ACC_V)(0),
                           to + v);
                }
            }
        }
}
#define READ(section, slot_h, row, slot_w, v)                                                      \
    LOADV(buffer + (section)*D_SECTION +                                                           \
          (((slot_h)*D_ROWS + (row)) * D_SLOTS_W + (slot_w)) * D_PITCH + (v))
#else
static inline ACC_T read_guarded(global const SRC_T *src, int h, int w)
{
    return h >= 0 && h < P_SRC_H && w >= 0 && w < P_SRC_W ? SRC_LOAD(src, (INDEX_T)h * P_SRC_W + w)
                                                          : 0;
}
#define READ(section, slot_h, row, slot_w, v)                                                      \
    read_guarded(src + plane[section] * D_SRC_PLANE, ELEMENT(row0 + (row), slot_h, H),             \
                 ELEMENT(col0 + (v), slot_w, W))
#endif

/* First tap along an axis that reaches phase p of the destination; the filter's size if none. */
static inline int first_tap(int p, int taps, int stride, int dilation, int period)
{
    for (int r = 0; r < min(taps, period); r++)
        if (r * dilation % stride == p)
            return r;
    return taps;
}

#if D_BACKWARD
#define FIRST(p, a) first_tap(p, P_FILTER_##a, P_STRIDE_##a, P_DILATION_##a, D_PERIOD_##a)
#define NEXT(a) D_PERIOD_##a
#define OFFSET(r, a) (D_REACH_##a - (r)*P_DILATION_##a / P_STRIDE_##a)
#define SLOT(r, a) 0
#define PLACE(t, p, a) (((t) + P_PAD_##a / P_STRIDE_##a) * P_STRIDE_##a + (p) - P_PAD_##a)
#define D_PHASES_H P_STRIDE_H
#define D_PHASES_W P_STRIDE_W
#else
#define FIRST(p, a) 0
#define NEXT(a) 1
#define OFFSET(r, a) ((r)*P_DILATION_##a / P_STRIDE_##a)
#define SLOT(r, a) ((r) % D_PERIOD_##a)
#define PLACE(t, p, a) (t)
#define D_PHASES_H 1
#define D_PHASES_W 1
#endif
#define D_DENSE (!D_BACKWARD || P_STRIDE_W == 1)

/* Unrolled loops read each vector of the buffer once; huge ones would only build slowly. */
#if P_FILTER_H * P_FILTER_W * T_ROWS <= 256 && D_PHASES_H * D_PHASES_W == 1
#define EACH_TAP _Pragma("unroll")
#else
#define EACH_TAP _Pragma("nounroll")
#endif

/* The source's depth that tap q of destination depth z reads; -1: none. */
static inline int source_depth(int z, int q)
{
#if D_BACKWARD
    int u = z + P_PAD_D - q * P_DILATION_D;
    return u >= 0 && u % P_STRIDE_D == 0 && u / P_STRIDE_D < P_SRC_D ? u / P_STRIDE_D : -1;
#else
    int u = z * P_STRIDE_D + q * P_DILATION_D - P_PAD_D;
    return u >= 0 && u < P_SRC_D ? u : -1;
#endif
}

#if !D_WEIGHTS
GROUP_SIZE(T_GROUP, 1, 1)
kernel void depthwise(global const SRC_T *restrict src, global const SRC_T *restrict w,
                      global DST_T *dst EPILOGUE_PARAMS)
{
    const int col0 = get_global_id(0) * (T_PIX * T_VEC), row0 = get_global_id(1) * T_ROWS;
    if (col0 >= D_GRID_W)
        return;
    const int z = get_global_id(2) % P_DST_D;
    const INDEX_T image = get_global_id(2) / P_DST_D, n = image / P_GROUPS;
    const int group = image % P_GROUPS;

    INDEX_T plane[D_SOURCES * P_FILTER_D];
    for (int m = 0; m < D_SOURCES; m++)
        for (int q = 0; q < P_FILTER_D; q++) {
            int d = source_depth(z, q);
            plane[m * P_FILTER_D + q] = d < 0 ? -1 : (image * D_SOURCES + m) * P_SRC_D + d;
        }
#if T_VEC > 1
    ACC_T buffer[D_SOURCES * P_FILTER_D * D_SECTION];
    for (int i = 0; i < D_SOURCES * P_FILTER_D; i++)
        if (plane[i] >= 0)
            fill(src, plane[i] * D_SRC_PLANE, buffer + i * D_SECTION, row0, col0);
#endif

    for (int out = 0; out < (D_BACKWARD ? 1 : D_MULTIPLE); out++) {
        const int channel = D_BACKWARD ? group : group * D_MULTIPLE + out;
        const INDEX_T to_plane =
            ((n * (D_BACKWARD ? P_GROUPS : P_GROUPS * D_MULTIPLE) + channel) * P_DST_D + z) *
            D_DST_PLANE;
        for (int ph = 0; ph < D_PHASES_H; ph++)
            for (int pw = 0; pw < D_PHASES_W; pw++)
                for (int i = 0; i < T_PIX; i++) {
                    ACC_V acc[T_ROWS];
#pragma unroll
                    for (int row = 0; row < T_ROWS; row++)
                        acc[row] = (ACC_V)(0);
                    for (int k = 0; k < D_SOURCES * P_FILTER_D; k++) {
                        if (plane[k] < 0)
                            continue;
                        global const SRC_T *tap =
                            w + ((INDEX_T)(group * D_MULTIPLE + out) * P_FILTER_D + k) * D_TAPS;
                        EACH_TAP
                        for (int s = FIRST(pw, W); s < P_FILTER_W; s += NEXT(W)) {
                            EACH_TAP
                            for (int r = FIRST(ph, H); r < P_FILTER_H; r += NEXT(H)) {
                                const ACC_V a = (ACC_V)(SRC_LOAD(tap, r * P_FILTER_W + s));
#pragma unroll
                                for (int row = 0; row < T_ROWS; row++)
                                    acc[row] += a * READ(k, SLOT(r, H), row + OFFSET(r, H),
                                                         SLOT(s, W), i * T_VEC + OFFSET(s, W));
                            }
                        }
                    }
                    const int t = col0 + i * T_VEC;
                    EACH_RESULT
                    for (int row = 0; row < T_ROWS; row++) {
                        const int y = PLACE(row0 + row, ph, H), x = PLACE(t, pw, W);
                        if (row0 + row >= D_GRID_H || y < 0 || y >= P_DST_H)
                            continue;
                        const INDEX_T at = to_plane + (INDEX_T)y * P_DST_W + x;
#if T_VEC == 1
                        if (x >= 0 && x < P_DST_W)
                            DST_STORE(dst, at, FINISH(acc[row], channel, at));
#else
#ifdef P_BETA
                        const int whole = T_VEC; /* residuals behind the row are not read */
#define OLD DST_LOADN(T_VEC, residual, at)
#else
                        const int whole = 1;
#define OLD (ROW_T)((VAL_T)0)
#endif
                        const int left = min(P_DST_W - x, D_GRID_W - t);
                        if (D_DENSE && left >= whole) {
                            STORE_SOME(dst, FINISH_ROW(acc[row], OLD, channel), min(left, T_VEC),
                                       at);
                            continue;
                        }
                        ACC_T lane[T_VEC];
                        STOREV(acc[row], lane);
#pragma nounroll
                        for (int l = 0; l < T_VEC; l++) {
                            const int step = D_BACKWARD ? l * P_STRIDE_W : l;
                            if (t + l < D_GRID_W && x + step >= 0 && x + step < P_DST_W)
                                DST_STORE(dst, at + step, FINISH(lane[l], channel, at + step));
                        }
#endif
                    }
                }
    }
}

#else /* D_WEIGHTS */

/* Rows row0 .. of one plane of dy from column col0, zeros outside. */
#if T_VEC > 1
static void fill_dy(global const SRC_T *dy, private ACC_T *to, int row0, int col0)
{
    for (int row = 0; row < T_ROWS; row++, to += T_PIX * T_VEC) {
        const int high = row0 + row < D_GRID_H ? min(D_GRID_W - col0, T_PIX * T_VEC) : 0;
        global const SRC_T *from = dy + (INDEX_T)(row0 + row) * D_GRID_W + col0;
        int v = 0;
        for (; v + T_VEC <= high; v += T_VEC)
            STOREV(SRC_LOADN(T_VEC, from, v), to + v);
        for (; v < high; v++)
            to[v] = SRC_LOAD(from, v);
        for (; v < T_PIX * T_VEC; v++)
            to[v] = 0;
    }
}
#endif

#if T_SPLIT > 1
#define OUT_T ACC_T
#define OUT_STORE(p, i, v) ((p)[i] = (v))
#else
#define OUT_T DST_T
#define OUT_STORE(p, i, v) DST_STORE(p, i, v)
#endif
#define D_ROW_BLOCKS ((D_GRID_H + T_ROWS - 1) / T_ROWS)
#define D_TAP_BLOCKS ((P_FILTER_H + D_TAP_ROWS - 1) / D_TAP_ROWS)

/* One item: D_TAP_ROWS rows of the filter of one output channel, over one part of its rows. */
kernel void depthwise_weights(global const SRC_T *restrict x, global const SRC_T *restrict dy,
                              global OUT_T *restrict out)
{
    const int q = get_global_id(0) / D_TAP_BLOCKS, part = get_global_id(2);
    const int r0 = D_TAP_BLOCKS == 1 ? 0 : get_global_id(0) % D_TAP_BLOCKS * D_TAP_ROWS;
    const INDEX_T k = get_global_id(1), group = k / D_MULTIPLE;
    ACC_V acc[D_TAP_ROWS * P_FILTER_W];
#pragma unroll
    for (int i = 0; i < D_TAP_ROWS * P_FILTER_W; i++)
        acc[i] = (ACC_V)(0);

    const INDEX_T blocks = (INDEX_T)P_N * D_GRID_D * D_ROW_BLOCKS;
    const INDEX_T each = (blocks + T_SPLIT - 1) / T_SPLIT, end = min((part + 1) * each, blocks);
    for (INDEX_T block = part * each; block < end; block++) {
        const int row0 = block % D_ROW_BLOCKS * T_ROWS, z = block / D_ROW_BLOCKS % D_GRID_D;
        const INDEX_T n = block / D_ROW_BLOCKS / D_GRID_D;
        const int d = source_depth(z, q);
        if (d < 0)
            continue;
        const INDEX_T plane_at = ((n * P_GROUPS + group) * P_SRC_D + d) * D_SRC_PLANE;
        global const SRC_T *grad = dy + ((n * P_GROUPS * D_MULTIPLE + k) * D_GRID_D + z) *
                                            ((INDEX_T)D_GRID_H * D_GRID_W);
        for (int col0 = 0; col0 < D_GRID_W; col0 += T_PIX * T_VEC) {
#if T_VEC > 1
            ACC_T buffer[D_SECTION], dy_buffer[T_ROWS * T_PIX * T_VEC];
            fill(x, plane_at, buffer, row0, col0);
            fill_dy(grad, dy_buffer, row0, col0);
#else
            global const SRC_T *src = x + plane_at;
            const INDEX_T plane[1] = {0};
#endif
            for (int i = 0; i < T_PIX; i++) {
                ACC_V a[T_ROWS];
#pragma unroll
                for (int row = 0; row < T_ROWS; row++)
#if T_VEC > 1
                    a[row] = LOADV(dy_buffer + (row * T_PIX + i) * T_VEC);
#else
                    a[row] = row0 + row < D_GRID_H
                                 ? SRC_LOAD(grad, (INDEX_T)(row0 + row) * D_GRID_W + col0)
                                 : 0;
#endif
#pragma unroll
                for (int s = 0; s < P_FILTER_W; s++)
#pragma unroll
                    for (int j = 0; j < D_TAP_ROWS; j++) {
                        const int r = min(r0 + j, P_FILTER_H - 1);
#pragma unroll
                        for (int row = 0; row < T_ROWS; row++)
                            acc[j * P_FILTER_W + s] +=
                                a[row] * READ(0, SLOT(r, H), row + OFFSET(r, H), SLOT(s, W),
                                              i * T_VEC + OFFSET(s, W));
                    }
            }
        }
    }

    out += ((part * (INDEX_T)(P_GROUPS * D_MULTIPLE) + k) * P_FILTER_D + q) * D_TAPS;
#pragma unroll
    for (int i = 0; i < D_TAP_ROWS * P_FILTER_W; i++) {
#if T_VEC == 1
        const ACC_T sum = acc[i];
#else
        ACC_T lane[T_VEC], sum = 0;
        STOREV(acc[i], lane);
        for (int l = 0; l < T_VEC; l++)
            sum += lane[l];
#endif
        if (r0 + i / P_FILTER_W < P_FILTER_H)
            OUT_STORE(out, r0 * P_FILTER_W + i, sum);
    }
}
#endif
