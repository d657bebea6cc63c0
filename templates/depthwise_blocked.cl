/* depthwise_blocked.cl: convolution over channel blocks where a group is no wider than a block.
 *
 * A vector is D_B neighbouring channels of one pixel, source and destination alike. In a depthwise
 * convolution (D_GROUP = 1) every channel stays in its lane, and a tap is one multiply-add:
 *
 *     destination   [ 0 1 2 3 ... ]  +=  [ 0 1 2 3 ... ]  *  weights of the tap
 *
 * With groups of 2, 4 or 8 channels it is as many, each with one source channel of every group
 * copied over the group's lanes (D_GROUP = 2: 0 0 2 2 ..., then 1 1 3 3 ...).
 *
 * One item goes along T_ROWS rows of one channel block in tiles of T_W pixels, whose sums stay in
 * registers:
 *
 *     row   |[ first ][ tile ][ tile ] ... [ last ]|     the last one starts earlier where T_W does
 *     row   |[ first ][ tile ][ tile ] ... [ last ]|     not divide the row
 *
 * Filter rows and planes outside the source are left out; so are the pixels that a tap does not
 * reach. With D_UNROLL=1 only the first and last tile have any, the taps of a row are unrolled, and
 * the compiler knows them.
 *
 * Backward data with stride 1 is the same over dy with the filter turned round, which `pack` sees
 * to, and the padding that remains of it.
 *
 * Grid of `depthwise_blocked`: (ceil(rows / T_ROWS), channel blocks, images), groups of one item.
 * Of `pack`: (channel blocks).
 *
 * Defines, besides those of common.cl; _a stands for each of _D, _H, _W:
 *   D_B, D_CHANNELS     channels of a block, in total
 *   D_GROUP             channels of a group
 *   P_SRC_a, P_DST_a    sizes; P_FILTER_a, P_STRIDE_a, P_DILATION_a
 *   D_LEAD_a            source coordinate of destination element 0, tap 0, is -D_LEAD_a
 *   D_SRC_IMAGE, _BLOCK, _PLANE, _ROW, _PIXEL    elements from one to the next; D_DST_ the same
 *   D_UNROLL            above
 *   D_BACKWARD          1: the filter is turned round
 *   T_W, T_ROWS         above; T_W <= P_DST_W
 *   T_STREAM            1: stores go past the caches (see common.cl)
 */
#define D_TAPS (P_FILTER_D * P_FILTER_H * P_FILTER_W)
#define D_TILES ((P_DST_W + T_W - 1) / T_W)
#define D_ROWS (P_DST_D * P_DST_H)

/* Weights as [block][tap][source channel of a group][D_B], zero where there is no channel. */
kernel GROUP_SIZE(1, 1, 1) void pack(global const SRC_T *restrict w, global ACC_T *restrict packed)
{
    const int block = get_global_id(0);
    packed += (INDEX_T)block * D_TAPS * D_GROUP * D_B;
    for (int tap = 0; tap < D_TAPS; tap++)
        for (int c = 0; c < D_GROUP; c++)
            for (int lane = 0; lane < D_B; lane++) {
                const INDEX_T k = (INDEX_T)block * D_B + lane;
#if D_BACKWARD
                const INDEX_T row = k - k % D_GROUP + c, column = k % D_GROUP;
                const INDEX_T at = (row * D_GROUP + column) * D_TAPS + D_TAPS - 1 - tap;
#else
                const INDEX_T at = (k * D_GROUP + c) * D_TAPS + tap;
#endif
                packed[(tap * D_GROUP + c) * D_B + lane] =
                    k < D_CHANNELS ? SRC_LOAD(w, at) : (ACC_T)0;
            }
}

/* Source channel c of each group in all the group's lanes. */
#if D_GROUP == 1
#define SPREAD(v, c) (v)
#else
#define SPREAD(v, c) shuffle(v, KILN_CAT(convert_uint, D_B)(KILN_LANES / D_GROUP * D_GROUP + (c)))
#endif

#if SRC_TYPE == TYPE_F32
#define LOAD_SRC(p, i) LOAD_V((p) + (i))
#else
#define LOAD_SRC(p, i) SRC_LOADN(D_B, p, i)
#endif

#define INLINE static inline __attribute__((always_inline))

/* Adds one row of the filter to a tile whose pixel 0, tap 0, is at column `at`. With `check`, only
 * pixels whose column is there. */
INLINE void add_row(ACC_V *acc, global const SRC_T *row, global const ACC_T *w, const int at,
                    const bool check)
{
#if D_UNROLL
#pragma unroll
#else
#pragma nounroll
#endif
    for (int s = 0; s < P_FILTER_W; s++) {
        ACC_V weight[D_GROUP];
#pragma unroll
        for (int c = 0; c < D_GROUP; c++)
            weight[c] = LOAD_V(w + (s * D_GROUP + c) * D_B);
#pragma unroll
        for (int i = 0; i < T_W; i++) {
            const int column = at + s * P_DILATION_W + i * P_STRIDE_W;
            if (check && (column < 0 || column >= P_SRC_W))
                continue;
            const ACC_V v = LOAD_SRC(row, column * D_SRC_PIXEL);
#pragma unroll
            for (int c = 0; c < D_GROUP; c++)
                acc[i] += SPREAD(v, c) * weight[c];
        }
    }
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

/* Curves are long: once in the code, not for each vector. */
#if P_ACTIVATION >= 4
#define EACH_PIXEL _Pragma("nounroll")
#else
#define EACH_PIXEL _Pragma("unroll")
#endif

/* One tile of row (z, y) from pixel x on; its first `shared` pixels are a neighbour's. */
INLINE void tile(global const SRC_T *src, global const ACC_T *w, global DST_T *dst, const int block,
                 const INDEX_T to, const int z, const int y, const int x, const int shared,
                 const bool check EPILOGUE_PARAMS)
{
    const int at_z = z * P_STRIDE_D - D_LEAD_D, at_y = y * P_STRIDE_H - D_LEAD_H;
    const int d_end = end_tap(at_z, P_SRC_D, P_FILTER_D, P_DILATION_D);
    const int h_end = end_tap(at_y, P_SRC_H, P_FILTER_H, P_DILATION_H);
    ACC_V acc[T_W];
#pragma unroll
    for (int i = 0; i < T_W; i++)
        acc[i] = (ACC_V)((ACC_T)0);
#pragma nounroll
    for (int d = first_tap(at_z, P_DILATION_D); d < d_end; d++)
#pragma nounroll
        for (int h = first_tap(at_y, P_DILATION_H); h < h_end; h++)
            add_row(acc,
                    src + (INDEX_T)(at_z + d * P_DILATION_D) * D_SRC_PLANE +
                        (INDEX_T)(at_y + h * P_DILATION_H) * D_SRC_ROW,
                    w + (d * P_FILTER_H + h) * P_FILTER_W * D_GROUP * D_B,
                    x * P_STRIDE_W - D_LEAD_W, check);
    EACH_PIXEL
    for (int i = 0; i < T_W; i++)
        if (i >= shared)
            PUT(dst, acc[i], block, to + (x + i) * D_DST_PIXEL);
}

kernel GROUP_SIZE(1, 1, 1) void depthwise_blocked(global const SRC_T *restrict src,
                                                  global const ACC_T *restrict w,
                                                  global DST_T *dst EPILOGUE_PARAMS)
{
    const int block = get_global_id(1);
    const INDEX_T n = get_global_id(2);
    const int begin = get_global_id(0) * T_ROWS, end = min(begin + T_ROWS, D_ROWS);
    src += n * D_SRC_IMAGE + (INDEX_T)block * D_SRC_BLOCK;
    w += (INDEX_T)block * D_TAPS * D_GROUP * D_B;
    for (int row = begin; row < end; row++) {
        const int y = row % P_DST_H, z = row / P_DST_H;
        const INDEX_T to = n * D_DST_IMAGE + (INDEX_T)block * D_DST_BLOCK +
                           (INDEX_T)z * D_DST_PLANE + (INDEX_T)y * D_DST_ROW;
#if D_UNROLL
        tile(src, w, dst, block, to, z, y, 0, 0, true EPILOGUE_PASS);
#pragma nounroll
        for (int t = 1; t < D_TILES - 1; t++)
            tile(src, w, dst, block, to, z, y, t * T_W, 0, false EPILOGUE_PASS);
#if D_TILES > 1
        tile(src, w, dst, block, to, z, y, P_DST_W - T_W, D_TILES * T_W - P_DST_W,
             true EPILOGUE_PASS);
#endif
#else
#pragma nounroll
        for (int t = 0; t < D_TILES; t++) {
            const int x = min(t * T_W, P_DST_W - T_W);
            tile(src, w, dst, block, to, z, y, x, t * T_W - x, true EPILOGUE_PASS);
        }
#endif
    }
}
