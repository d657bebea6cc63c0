/* depthwise_source.cl: how depthwise.cl and depthwise_plain_weights.cl read a plain source.
 *
 * An item works on T_ROWS rows of T_PIX vectors of T_VEC columns of a plane. First it copies the
 * piece of the source that it needs into a small buffer, with zeros for the border and, with a
 * stride, sorted into slots by remainder, so that each tap reads whole vectors at one fixed offset
 * (see direct_lines.cl for the idea):
 *
 *          T_PIX * T_VEC            buffer, 3x3:   0 x x x x x
 *     T_ROWS  y y y y                              0 x x x x x     T_ROWS + D_REACH_H rows of
 *             y y y y                              0 x x x x x     T_PIX * T_VEC + D_REACH_W
 *                                                  0 x x x x x
 *
 * With T_VEC=1 there is no buffer: every element is read where it lies, behind a guard, which is
 * what a GPU wants, neighbouring items having neighbouring columns.
 *
 *   ACC_V, LOADV(p), STOREV(v, p)   T_VEC sums; without the last two for T_VEC=1
 *   fill(src, plane, to, row0, col0)    fills a buffer of D_SECTION elements; T_VEC > 1 only
 *   READ(section, slot_h, row, slot_w, v)   one vector, of the array `buffer` or, for T_VEC=1, of
 *                         plane[section] of `src` from row0 and col0 on
 *   SLOT(r, a), OFFSET(r, a)   where tap r reads along axis a
 *   source_depth(z, q)    the source's depth that tap q of destination depth z reads; -1: none
 *
 * Defines, besides those of the files included; _a stands for each of _D, _H, _W:
 *   D_BACKWARD            1: backward data, whose source is dy and whose offsets run backwards
 *   P_GROUPS, D_MULTIPLE  input channels, and output channels of each
 *   P_N                   images
 *   P_SRC_a, P_DST_a, P_FILTER_a, P_STRIDE_a, P_DILATION_a, P_PAD_a
 *   D_GRID_a, D_REACH_a, D_STEP_a, D_LEAD_a, D_SLOTS_a, D_PERIOD_a   as in direct_lines.cl
 *   T_VEC T_PIX T_ROWS    above; T_PIX=1 with T_VEC=1
 */
#include "types.cl"

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

#if D_BACKWARD
#define OFFSET(r, a) (D_REACH_##a - (r)*P_DILATION_##a / P_STRIDE_##a)
#define SLOT(r, a) 0
#else
#define OFFSET(r, a) ((r)*P_DILATION_##a / P_STRIDE_##a)
#define SLOT(r, a) ((r) % D_PERIOD_##a)
#endif

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
