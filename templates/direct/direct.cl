/* direct.cl: register-tiled direct convolution, forward and backward data.
 *
 * The source has been laid out in lines by direct_lines.cl, where every filter tap is one fixed
 * offset, whatever the padding, stride and dilation:
 *
 *     dst[k][f] = sum over c, tap of  w[k][c][tap] * line[slot(tap)][c][f + offset(tap)]
 *
 * so vectors of T_VEC positions f are read without a guard, across rows and images. Positions that
 * are no element of the destination are computed and dropped. Where the source is such a line
 * already (1x1, stride 1, no padding: T_COPY=0) it is read in place, one image at a time.
 *
 *      one item                              one group: T_GROUP items over f, T_GROUP_K over k
 *              T_PIX vectors of T_VEC f          item 0    item 1    item 0    item 1   (T_PIX=2)
 *      T_K k   [ acc ][ acc ]                   [ vector ][ vector ][ vector ][ vector ]
 *              [ acc ][ acc ]
 *
 * Backward data is the same sum with dy as the source, dx as the destination and offsets that run
 * backwards; with a stride, each phase of dx (position modulo stride) has its own taps and its own
 * share of the grid.
 *
 * Grid of `direct`: (f / (T_PIX * T_VEC), groups * ceil(D_DST_C / T_K), z), the first two exchanged
 * with T_ORDER=1; z is the image with T_COPY=0, else the phase of the destination, which with
 * T_ORDER=1 comes first of all (and shares an axis with the channels), as all phases read the same
 * positions and write the same lines. Rounded up over the channels only; groups of one item may be
 * fewer (see items.cl).
 *
 * Defines, besides those of the files included (D_ROW=T_VEC among them); _a stands for each of _D,
 * _H, _W:
 *   P_GROUPS            groups; D_DST_C, D_SRC_C: channels of one; D_TAPS: of the filter
 *   P_DST_a             sizes of the destination
 *   D_GRID_a            destination positions of one phase; D_LINE_a: positions in the line
 *   D_SLOTS_a           slots in use
 *   D_CHANNEL           positions of one channel's line; D_POSITIONS: f ends here
 *   D_W_DST, D_W_SRC    strides of the weights over channels of the destination and the source
 *   T_VEC T_K T_PIX     tile of one item, as above (T_K <= D_DST_C)
 *   T_C                 source channels between two changes of the tap
 *   T_GROUP T_GROUP_K T_ORDER T_COPY   as above; T_PACK=1: w holds what pack_channels.cl made
 *   D_AHEAD             1: positions of items ahead are fetched
 *   T_STREAM            1: stores go past the caches, with T_COPY=0 (see caches.cl)
 */
#include "caches.cl"
#include "epilogue.cl"
#include "items.cl"
#include "lines.cl"
#include "rows.cl"

#define D_IMAGE (D_LINE_D * D_LINE_H * D_LINE_W)
#define D_BLOCKS ((D_DST_C + T_K - 1) / T_K)
#define D_DST_PIXELS ((INDEX_T)P_DST_D * P_DST_H * P_DST_W)

#if T_VEC == 1
#define ACC_V ACC_T
#define VAL_V VAL_T
#define SRC_LOADV(p, i) SRC_LOAD(p, i)
#else
#define ACC_V KILN_CAT(ACC_T, T_VEC)
#define VAL_V KILN_CAT(VAL_T, T_VEC)
#define SRC_LOADV(p, i) SRC_LOADN(T_VEC, p, i)
#endif

#if T_PACK
#define WEIGHT_T ACC_T
#define WEIGHT(p, k) ((p)[k])
#define D_NEXT_C (D_TAPS * T_K)
#define D_NEXT_TAP T_K
#else
#define WEIGHT_T SRC_T
#define WEIGHT(p, k) SRC_LOAD(p, (INDEX_T)(k) * D_W_DST)
#define D_NEXT_C D_W_SRC
#define D_NEXT_TAP 1
#endif

/* ---- the convolution ---- */

#define TAPS(r, p, a) for (int r = FIRST(p, a); r < P_FILTER_##a; r += NEXT(a))

/* Destination offset of position f within image n, channel 0; -1 where there is no element. */
static inline INDEX_T place(INDEX_T f, INDEX_T n, int pd, int ph, int pw)
{
    n += f / D_IMAGE;
    int rest = f % D_IMAGE;
    int t = rest % D_LINE_W, u = rest / D_LINE_W % D_LINE_H, v = rest / (D_LINE_W * D_LINE_H);
    int x = PLACE(t, pw, W), y = PLACE(u, ph, H), z = PLACE(v, pd, D);
    bool inside = f < D_POSITIONS && t < D_GRID_W && u < D_GRID_H && v < D_GRID_D && x >= 0 &&
                  x < P_DST_W && y >= 0 && y < P_DST_H && z >= 0 && z < P_DST_D;
    INDEX_T pixel = ((INDEX_T)z * P_DST_H + y) * P_DST_W + x;
    return inside ? n * (P_GROUPS * D_DST_C) * D_DST_PIXELS + pixel : -1;
}

#if T_COPY == 0 && T_VEC > 1
/* Stores the positions from f on that the group owns, of the channel whose plane is at `plane`. */
static inline void put_vector(global DST_T *dst, const ACC_V acc, const int channel,
                              const INDEX_T f_own, const INDEX_T f,
                              const INDEX_T plane EPILOGUE_PARAMS)
{
    if (f >= f_own) {
        PUT_ROW(dst, acc, channel, plane + f);
        return;
    }
    ACC_T lane[T_VEC] __attribute__((aligned(64)));
    *(private ACC_V *)lane = acc;
#pragma nounroll
    for (int l = f_own - f; l < T_VEC; l++)
        DST_STORE(dst, plane + f + l, FINISH(lane[l], channel, plane + f + l));
}
#endif

/* One item: T_PIX vectors of positions, of the group that begins at f_own, of T_K channels.
 * (Oclgrind does not know what becomes of `restrict` in an inlined function.) */
INLINE void item(global const SRC_T *x, global const WEIGHT_T *w, global DST_T *dst,
                 const INDEX_T f_own, const int block, const int z EPILOGUE_PARAMS)
{
    if (block >= P_GROUPS * D_BLOCKS)
        return;
    int group = block / D_BLOCKS, k_own = block % D_BLOCKS * T_K, k0 = min(k_own, D_DST_C - T_K);

    INDEX_T f_group = f_own;
#if T_COPY
    const int n = 0;
    const int pw = z % D_PHASES_W, ph = z / D_PHASES_W % D_PHASES_H;
    const int pd = z / (D_PHASES_W * D_PHASES_H);
#else
    /* The line ends with the buffer: the last group moves back and stores only what it owns. */
    f_group = min(f_own, (INDEX_T)D_POSITIONS - T_GROUP * T_PIX * T_VEC);
    const int n = z, pd = 0, ph = 0, pw = 0;
    x += (INDEX_T)n * (P_GROUPS * D_SRC_C) * D_CHANNEL;
#endif
    INDEX_T f0 = f_group + (T_GROUP > 1 ? get_local_id(T_ORDER) * T_VEC : 0);
    x += (INDEX_T)group * D_SRC_C * D_CHANNEL + f0;
#if T_PACK
    w += (INDEX_T)block * (D_SRC_C * D_TAPS * T_K);
#else
    w += (INDEX_T)group * D_DST_C * D_SRC_C * D_TAPS + (INDEX_T)k0 * D_W_DST;
#endif

    ACC_V acc[T_K * T_PIX];
#pragma unroll
    for (int i = 0; i < T_K * T_PIX; i++)
        acc[i] = (ACC_V)(0);

    for (int c0 = 0; c0 < D_SRC_C; c0 += T_C) {
        const int c_end = D_SRC_C % T_C ? min(T_C, D_SRC_C - c0) : T_C;
#if D_AHEAD
        /* Each of the blocks that share positions prefetches some channels of the positions after
         * the next. */
        if (c0 / T_C % D_BLOCKS == block % D_BLOCKS)
            for (int c = c0; c < c0 + c_end; c++)
#pragma unroll
                for (int i = 2 * T_PIX; i < 3 * T_PIX; i++)
                    KILN_FETCH(x + (INDEX_T)c * D_CHANNEL + i * T_VEC);
#endif
        TAPS(rd, pd, D)
        TAPS(rh, ph, H)
        TAPS(rw, pw, W) {
            int slot = (SLOT(rd, D) * D_SLOTS_H + SLOT(rh, H)) * D_SLOTS_W + SLOT(rw, W);
            int tap = (rd * P_FILTER_H + rh) * P_FILTER_W + rw;
            global const SRC_T *xp =
                x + ((INDEX_T)slot * (P_GROUPS * D_SRC_C) + c0) * D_CHANNEL +
                (OFFSET(rd, D) * D_LINE_H + OFFSET(rh, H)) * D_LINE_W + OFFSET(rw, W);
            global const WEIGHT_T *wp = w + (INDEX_T)c0 * D_NEXT_C + tap * D_NEXT_TAP;
            for (int c = 0; c < c_end; c++) {
                ACC_V v[T_PIX];
#pragma unroll
                for (int i = 0; i < T_PIX; i++)
                    v[i] = SRC_LOADV(xp, i * (T_GROUP * T_VEC));
#pragma unroll
                for (int k = 0; k < T_K; k++) {
                    const ACC_V a = (ACC_V)(WEIGHT(wp, k));
#pragma unroll
                    for (int i = 0; i < T_PIX; i++)
                        acc[k * T_PIX + i] += a * v[i];
                }
                xp += D_CHANNEL;
                wp += D_NEXT_C;
            }
        }
    }

#if T_COPY == 0 && T_VEC > 1
    ACC_V out[T_K * T_PIX];
#pragma unroll
    for (int i = 0; i < T_K * T_PIX; i++)
        out[i] = acc[i];
    const INDEX_T plane0 = ((INDEX_T)(n * P_GROUPS + group) * D_DST_C + k0) * D_DST_PIXELS;
    EACH_RESULT
    for (int j = 0; j < T_K * T_PIX; j++) {
        const int k = j / T_PIX;
        if (D_DST_C % T_K == 0 || k0 + k >= k_own)
            put_vector(dst, out[j], group * D_DST_C + k0 + k, f_own,
                       f0 + j % T_PIX * (T_GROUP * T_VEC), plane0 + k * D_DST_PIXELS EPILOGUE_PASS);
    }
#else
    /* The sums leave the registers, so that the code below exists once, not T_K * T_PIX times.
     * Where an item holds scalars the loop is unrolled instead, and they stay in registers. */
    ACC_V out[T_K * T_PIX];
#pragma unroll
    for (int i = 0; i < T_K * T_PIX; i++)
        out[i] = acc[i];
    dst += (INDEX_T)group * D_DST_C * D_DST_PIXELS;
    const int channel0 = group * D_DST_C;
#ifdef P_BETA
    residual += (INDEX_T)group * D_DST_C * D_DST_PIXELS;
#endif
#if T_VEC == 1
#pragma unroll
    for (int i = 0; i < T_PIX; i++) {
        INDEX_T f = f0 + i * T_GROUP, at = f < f_own ? -1 : place(f, n, pd, ph, pw);
        if (at < 0)
            continue;
#pragma unroll
        for (int k = 0; k < T_K; k++) {
            INDEX_T to = at + (k0 + k) * D_DST_PIXELS;
            if (k0 + k >= k_own)
                DST_STORE(dst, to, FINISH(out[k * T_PIX + i], channel0 + k0 + k, to));
        }
    }
#else
#pragma nounroll
    for (int i = 0; i < T_PIX; i++) {
        INDEX_T f = f0 + i * (T_GROUP * T_VEC), at[T_VEC];
        at[0] = f < f_own ? -1 : place(f, n, pd, ph, pw);
        const bool in_row = T_COPY == 0 || f % D_LINE_W + T_VEC <= D_GRID_W;
#if D_DENSE
        const bool whole = in_row && at[0] >= 0;
#else
        const bool whole = in_row && at[0] >= 0 && place(f + T_VEC - 1, n, pd, ph, pw) >= 0;
#endif
        if (D_DENSE || !whole) {
#pragma nounroll
            for (int l = 1; l < T_VEC; l++)
                at[l] = whole ? at[0] + l : f + l < f_own ? -1 : place(f + l, n, pd, ph, pw);
        }
#pragma nounroll
        for (int k = k_own - k0; k < T_K; k++) {
            INDEX_T plane = (k0 + k) * D_DST_PIXELS;
            const private ACC_T *lane = (const private ACC_T *)&out[k * T_PIX + i];
#if !D_DENSE
            if (whole) {
#pragma unroll
                for (int l = 0; l < T_VEC; l++) {
                    const INDEX_T to = at[0] + l * P_STRIDE_W + plane;
                    DST_STORE(dst, to, FINISH(lane[l], channel0 + k0 + k, to));
                }
                continue;
            }
#elif !defined P_BIAS && !defined P_ALPHA && !defined P_BETA && P_ACTIVATION == 0
            if (whole) {
                DST_STOREN(T_VEC, dst, at[0] + plane,
                           KILN_CAT(convert_, VAL_V)(out[k * T_PIX + i]));
                continue;
            }
#endif
            for (int l = 0; l < T_VEC; l++)
                if (at[l] >= 0)
                    DST_STORE(dst, at[l] + plane,
                              FINISH(lane[l], channel0 + k0 + k, at[l] + plane));
        }
    }
#endif
#endif
}

#if T_COPY && T_ORDER
#define BLOCK (ITEM(0) / (D_PHASES_D * D_PHASES_H * D_PHASES_W))
#define Z (ITEM(0) % (D_PHASES_D * D_PHASES_H * D_PHASES_W))
#else
#define BLOCK ITEM(!T_ORDER)
#define Z ITEM(2)
#endif
#define ITEM_HERE                                                                                  \
    item(x, w, dst, (INDEX_T)(ITEM(T_ORDER) / T_GROUP) * (T_GROUP * T_PIX * T_VEC), BLOCK,         \
         Z EPILOGUE_PASS)
DEFINE_ITEM(ITEM_HERE, (global const SRC_T *x, global const WEIGHT_T *w,
                        global DST_T *dst EPILOGUE_PARAMS))

#if T_ORDER
GROUP_SIZE(T_GROUP_K, T_GROUP, 1)
#else
GROUP_SIZE(T_GROUP, T_GROUP_K, 1)
#endif
kernel void direct(global const SRC_T *restrict x, global const WEIGHT_T *restrict w,
                   global DST_T *dst EPILOGUE_PARAMS ITEMS_PARAM)
{
    EACH_ITEM(ITEM_HERE, (x, w, dst EPILOGUE_PASS))
}

