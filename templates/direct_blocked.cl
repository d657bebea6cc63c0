/* direct_blocked.cl: register-tiled direct convolution over channel blocks, shaped for a CPU.
 *
 * Source and destination keep D_B neighbouring channels together (NC/16HW16: D_B = 16), so that a
 * vector is D_B destination channels of one pixel, a weight vector is loaded once for T_W pixels,
 * and a source element is a broadcast. One item computes
 *
 *                     T_W pixels of one row              weights of one source channel
 *     T_KV blocks   [ acc ][ acc ][ acc ] ...              [ vector ]
 *     of channels   [ acc ][ acc ][ acc ] ...              [ vector ]
 *
 * as a sum over source blocks, filter taps and the channels of a block. The last tile of a row and
 * the last of the channel blocks start earlier instead of being smaller: what they share with their
 * neighbours is computed by both and stored by one.
 *
 * Padding is not in memory. Filter rows and planes outside the source are left out. At the ends of
 * a row either the taps are unrolled with the pixels that they reach (D_UNROLL=1: then only the
 * first and last tile are at an end, and nothing is computed for padding), or the T_W vectors of a
 * tap are first copied with zeros in the place of padding (a strip). Types that are not float are
 * always converted into strips.
 *
 * Backward data with stride 1 is the same sum over dy with the filter turned round, which `pack`
 * sees to, and the padding that remains of it.
 *
 * Grid of `direct_blocked`: (D_TILES_W * rows, groups * D_TILES_K, images), the first two exchanged
 * with T_ORDER=1; groups of one item. Of `pack`: (source blocks of a group, groups * D_TILES_K).
 *
 * Defines, besides those of common.cl; _a stands for each of _D, _H, _W:
 *   D_B, D_CHANNELS     channels of a block, of the destination
 *   P_SRC_a, P_DST_a    sizes; P_FILTER_a, P_STRIDE_a, P_DILATION_a
 *   D_LEAD_a            source coordinate of destination element 0, tap 0, is -D_LEAD_a
 *   D_SRC_C, D_DST_C    channels of one group
 *   D_SRC_IMAGE, _BLOCK, _PLANE, _ROW, _PIXEL, _CHANNEL    elements from one to the next
 *   D_DST_IMAGE, _BLOCK, _PLANE, _ROW, _PIXEL              the same; channels are neighbours
 *   D_TILES_W, D_TILES_K   tiles of a row, of the channel blocks of a group
 *   D_STRIP             0 never, 1 at the ends of a row, 2 everywhere
 *   D_UNROLL            1: taps unrolled at the ends of a row
 *   D_FIRST, D_LAST     1: the first, last tile is at an end
 *   D_BACKWARD          1: the filter is turned round
 *   T_W, T_KV           tile of one item; T_W <= P_DST_W, T_KV <= channel blocks of a group
 *   T_ORDER             above
 */
#define D_KT (T_KV * D_B)
#define D_TAPS (P_FILTER_D * P_FILTER_H * P_FILTER_W)
#define D_DST_BLOCKS ((D_DST_C + D_B - 1) / D_B)

/* ---- weights as [group and tile][source channel block][tap][channel][D_KT], zero where the last
 * block has no channel ---- */

kernel GROUP_SIZE(1, 1, 1) void pack(global const SRC_T *restrict w, global ACC_T *restrict packed)
{
    const int block = get_global_id(0), tile = get_global_id(1);
    const int k0 = min(tile % D_TILES_K * T_KV, D_DST_BLOCKS - T_KV) * D_B;
    const int c0 = block * D_B, channels = min(D_B, D_SRC_C - c0);
    const INDEX_T group = tile / D_TILES_K;
    packed += ((INDEX_T)tile * D_SRC_C + c0) * D_TAPS * D_KT;
    for (int k = 0; k < D_KT; k++)
        for (int c = 0; c < channels; c++)
            for (int tap = 0; tap < D_TAPS; tap++) {
#if D_BACKWARD
                INDEX_T row = group * D_SRC_C + c0 + c, column = k0 + k;
                INDEX_T at = (row * D_DST_C + column) * D_TAPS + D_TAPS - 1 - tap;
#else
                INDEX_T row = group * D_DST_C + k0 + k, column = c0 + c;
                INDEX_T at = (row * D_SRC_C + column) * D_TAPS + tap;
#endif
                packed[(tap * channels + c) * D_KT + k] =
                    k0 + k < D_DST_C ? SRC_LOAD(w, at) : (ACC_T)0;
            }
}

/* ---- sums ---- */

#define INLINE static inline __attribute__((always_inline))

/* Adds one tap: `channels` source channels, pixel i at x[i * step + c * next]. With `check`, pixel i
 * is there only if column `at + i * P_STRIDE_W` is. */
#define DEFINE_TAP(name, SPACE, UNROLL)                                                            \
    INLINE void name(ACC_V *acc, SPACE const ACC_T *x, global const ACC_T *w, const int channels,  \
                     const int step, const int next, const bool check, const int at)               \
    {                                                                                              \
        _Pragma(UNROLL) for (int c = 0; c < channels; c++)                                         \
        {                                                                                          \
            ACC_V weight[T_KV];                                                                    \
            _Pragma("unroll") for (int k = 0; k < T_KV; k++) weight[k] =                           \
                LOAD_V(w + c * D_KT + k * D_B);                                                    \
            _Pragma("unroll") for (int i = 0; i < T_W; i++)                                        \
            {                                                                                      \
                const int column = at + i * P_STRIDE_W;                                            \
                if (check && (column < 0 || column >= P_SRC_W))                                    \
                    continue;                                                                      \
                const ACC_V v = (ACC_V)(x[i * step + c * next]);                                   \
                _Pragma("unroll") for (int k = 0; k < T_KV; k++) acc[i * T_KV + k] +=              \
                    v * weight[k];                                                                 \
            }                                                                                      \
        }                                                                                          \
    }

#if D_STRIP < 2
DEFINE_TAP(add_whole, global, "unroll 4")
/* Were few channels unrolled, the compiler would keep their elements in registers from tap to tap,
 * and the sums not. */
DEFINE_TAP(add_part, global, "nounroll")
#define ADD_TAP(acc, x, w, channels, check, at)                                                    \
    if (channels == D_B)                                                                           \
        add_whole(acc, x, w, channels, P_STRIDE_W * D_SRC_PIXEL, D_SRC_CHANNEL, check, at);         \
    else                                                                                           \
        add_part(acc, x, w, channels, P_STRIDE_W * D_SRC_PIXEL, D_SRC_CHANNEL, check, at)
#endif

#if D_STRIP
DEFINE_TAP(add_strip, private, "unroll 4")

/* The T_W vectors that one tap reads, from column `at` on. */
INLINE void make_strip(ACC_T *strip, global const SRC_T *row, const int channels, const int at)
{
    for (int i = 0; i < T_W; i++) {
        const int column = at + i * P_STRIDE_W;
        const bool inside = column >= 0 && column < P_SRC_W;
#if D_SRC_CHANNEL == 1
        const ACC_V v =
            inside ? SRC_LOADN(D_B, row, (INDEX_T)column * D_SRC_PIXEL) : (ACC_V)((ACC_T)0);
        *(private ACC_V *)(strip + i * D_B) = v;
#else
        for (int c = 0; c < channels; c++)
            strip[i * D_B + c] = inside ? SRC_LOAD(row, (INDEX_T)column * D_SRC_PIXEL +
                                                            (INDEX_T)c * D_SRC_CHANNEL)
                                        : (ACC_T)0;
#endif
    }
}
#endif

/* How a tile reads its rows. */
#define INSIDE 0 /* without looking */
#define UNROLLED 1
#define STRIPS 2

/* Adds one row of the filter; `at` is the column of pixel 0, tap 0. */
INLINE void add_row(ACC_V *acc, global const SRC_T *row, global const ACC_T *w, const int channels,
                    const int at, const int how)
{
#if D_STRIP
    if (how == STRIPS) {
        ACC_T strip[T_W * D_B] __attribute__((aligned(64)));
        for (int s = 0; s < P_FILTER_W; s++) {
            make_strip(strip, row, channels, at + s * P_DILATION_W);
            add_strip(acc, strip, w + s * channels * D_KT, channels, D_B, 1, false, 0);
        }
        return;
    }
#endif
#if D_UNROLL
    if (how == UNROLLED) {
#pragma unroll
        for (int s = 0; s < P_FILTER_W; s++) {
            const int column = at + s * P_DILATION_W;
            ADD_TAP(acc, row + column * D_SRC_PIXEL, w + s * channels * D_KT, channels, true,
                    column);
        }
        return;
    }
#endif
#if D_STRIP < 2
#pragma nounroll
    for (int s = 0; s < P_FILTER_W; s++)
        ADD_TAP(acc, row + (INDEX_T)(at + s * P_DILATION_W) * D_SRC_PIXEL, w + s * channels * D_KT,
                channels, false, 0);
#endif
}

/* The taps of an axis that lie in the source, where tap 0 is at coordinate `at`. */
INLINE int first_tap(const int at, const int dilation)
{
    return at < 0 ? (dilation - 1 - at) / dilation : 0;
}

INLINE int end_tap(const int at, const int size, const int taps, const int dilation)
{
    return at < size ? min(taps, (size - 1 - at) / dilation + 1) : 0;
}

/* Adds one block of source channels. */
INLINE void add_block(ACC_V *acc, global const SRC_T *block, global const ACC_T *w,
                      const int channels, const int3 at, const int how)
{
    const int d_end = end_tap(at.z, P_SRC_D, P_FILTER_D, P_DILATION_D);
    const int h_end = end_tap(at.y, P_SRC_H, P_FILTER_H, P_DILATION_H);
#pragma nounroll
    for (int d = first_tap(at.z, P_DILATION_D); d < d_end; d++)
#pragma nounroll
        for (int h = first_tap(at.y, P_DILATION_H); h < h_end; h++)
            add_row(acc,
                    block + (INDEX_T)(at.z + d * P_DILATION_D) * D_SRC_PLANE +
                        (INDEX_T)(at.y + h * P_DILATION_H) * D_SRC_ROW,
                    w + (d * P_FILTER_H + h) * P_FILTER_W * channels * D_KT, channels, at.x, how);
}

INLINE void add_all(ACC_V *acc, global const SRC_T *src, global const ACC_T *w, const int3 at,
                    const int how)
{
#pragma nounroll
    for (int b = 0; b < D_SRC_C / D_B; b++) {
        add_block(acc, src, w, D_B, at, how);
        src += D_SRC_BLOCK;
        w += D_TAPS * D_B * D_KT;
    }
#if D_SRC_C % D_B
    add_block(acc, src, w, D_SRC_C % D_B, at, how);
#endif
}

/* Curves are long: once in the code, not for each vector. */
#if P_ACTIVATION >= 4
#define EACH_PIXEL _Pragma("nounroll")
#else
#define EACH_PIXEL _Pragma("unroll")
#endif

kernel GROUP_SIZE(1, 1, 1) void direct_blocked(global const SRC_T *restrict src,
                                               global const ACC_T *restrict w,
                                               global DST_T *dst EPILOGUE_PARAMS)
{
    const int tile = get_global_id(T_ORDER), tile_k = get_global_id(1 - T_ORDER);
    const int own_x = tile % D_TILES_W * T_W, row = tile / D_TILES_W;
    const int own_k = tile_k % D_TILES_K * T_KV, group = tile_k / D_TILES_K;
    const int x = min(own_x, P_DST_W - T_W), y = row % P_DST_H, z = row / P_DST_H;
    const int k0 = min(own_k, D_DST_BLOCKS - T_KV);
    const INDEX_T n = get_global_id(2);

    ACC_V acc[T_W * T_KV];
#pragma unroll
    for (int i = 0; i < T_W * T_KV; i++)
        acc[i] = (ACC_V)((ACC_T)0);

    src += n * D_SRC_IMAGE + (INDEX_T)group * (D_SRC_C / D_B) * D_SRC_BLOCK;
    w += (INDEX_T)tile_k * D_SRC_C * D_TAPS * D_KT;
    int3 at = (int3)(x * P_STRIDE_W - D_LEAD_W, y * P_STRIDE_H - D_LEAD_H,
                     z * P_STRIDE_D - D_LEAD_D);
#if D_STRIP == 2
    add_all(acc, src, w, at, STRIPS);
#elif D_STRIP == 1
    const int reach = (T_W - 1) * P_STRIDE_W + (P_FILTER_W - 1) * P_DILATION_W;
    if (at.x >= 0 && at.x + reach < P_SRC_W)
        add_all(acc, src, w, at, INSIDE);
    else
        add_all(acc, src, w, at, STRIPS);
#else
    /* Columns that the compiler knows. */
#if D_FIRST
    if (x == 0) {
        at.x = -D_LEAD_W;
        add_all(acc, src, w, at, UNROLLED);
    } else
#endif
#if D_LAST && D_TILES_W > 1
    if (x == P_DST_W - T_W) {
        at.x = (P_DST_W - T_W) * P_STRIDE_W - D_LEAD_W;
        add_all(acc, src, w, at, UNROLLED);
    } else
#endif
#if D_TILES_W > D_FIRST + D_LAST
        add_all(acc, src, w, at, INSIDE);
#else
    {
    }
#endif
#endif

    const INDEX_T to = n * D_DST_IMAGE + (INDEX_T)z * D_DST_PLANE + (INDEX_T)y * D_DST_ROW +
                       (INDEX_T)x * D_DST_PIXEL;
EACH_PIXEL
    for (int i = 0; i < T_W; i++) {
        if (P_DST_W % T_W && x + i < own_x)
            continue;
#pragma unroll
        for (int k = 0; k < T_KV; k++) {
            const int block = group * D_DST_BLOCKS + k0 + k;
            if (D_DST_BLOCKS % T_KV == 0 || k0 + k >= own_k)
                PUT(dst, acc[i * T_KV + k], block,
                    to + (INDEX_T)block * D_DST_BLOCK + i * D_DST_PIXEL);
        }
    }
}
