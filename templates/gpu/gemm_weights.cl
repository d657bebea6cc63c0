/* gemm_weights.cl: backward weights as a product of matrices that is never laid out: dy times the
 * patches of x, tile by tile, summed over the pixels of all images.
 *
 *                     columns: source channel and tap
 *                     +--------+--------+---
 *     pixels          | bs     |             (x, where the pixel's tap lies, or 0 for padding)
 *       |             +--------+--------+---
 *       v
 *     +------+        +--------+--------+---
 *     | as   |        | T_BM x |             a work-group's tile of dw; gemm_tile.cl has the
 *     +------+        |  T_BN  |             product
 *     channels        +--------+--------+---
 *     of dy
 *
 * A step takes T_BK pixels, of one image or of several: while the group multiplies one pair of
 * pieces, each item has its share of the next pair under way in registers. D_SLICES slices of the
 * group share the pixels of a step, and T_SPLIT groups all pixels; sum_parts.cl then adds the
 * groups' sums in order, so that two runs give the same bits.
 *
 * Grid      (tiles of channels * tiles of columns * items, groups, T_SPLIT) in groups of (items, 1,
 *           1).
 * Defines   those of types.cl and gemm_tile.cl, and
 *   P_SRC_a, P_DST_a, P_FILTER_a, P_STRIDE_a, P_DILATION_a, P_PAD_a
 *                         of x and dy along a = D, H, W
 *   P_IMAGES, P_GROUPS    D_SRC_C, D_DST_C: channels of one group of x and of dy
 *   D_X_LOAD, D_DY_LOAD   how x and dy are read: LOAD_PIXELS, one element, neighbouring items
 *                         neighbouring pixels; LOAD_CHANNELS, four neighbouring channels;
 *                         LOAD_QUADS, four neighbouring pixels, of x with a filter of one tap alone
 *   D_X_IMAGE, _CHANNEL, _PLANE, _ROW, _PIXEL, D_DY_...    elements from one to the next
 *   D_W_K, D_W_C, D_W_TAP    elements of dw from a channel of dy, of x, and a tap to the next one
 *   T_SPLIT, D_SLICES     above
 */
#include "gemm_tile.cl"

#define LOAD_PIXELS 0
#define LOAD_CHANNELS 1
#define LOAD_QUADS 2

#define TAPS (P_FILTER_D * P_FILTER_H * P_FILTER_W)
#define COLUMNS (D_SRC_C * TAPS)
#define PIXELS (P_IMAGES * P_DST_D * P_DST_H * P_DST_W)

/* A piece's rows are pixels. Except with LOAD_CHANNELS, an item writes pixels of a channel below
 * one another: rows are 4 further apart, so that items write to different banks. */
#define PITCH(load, tile) ((tile) + ((load) == LOAD_CHANNELS ? 0 : 4))
#define A_PITCH PITCH(D_DY_LOAD, T_BM)
#define B_PITCH PITCH(D_X_LOAD, T_BN)

/* An item reads so many times one element or four: the first of pixel READ_PIXEL and column
 * READ_COLUMN of the piece. With LOAD_QUADS 32 items read eight pixels of sixteen columns. */
#define WIDTH(load) ((load) == LOAD_PIXELS ? 1 : 4)
#define ALL_READS(load, tile) (T_BK * (tile) / WIDTH(load))
#define READERS(load, tile)                                                                        \
    (GROUP_ITEMS < ALL_READS(load, tile) ? GROUP_ITEMS : ALL_READS(load, tile))
#define READS(load, tile) (ALL_READS(load, tile) / READERS(load, tile))
#define IS_READER(load, tile) (READERS(load, tile) == GROUP_ITEMS || item < READERS(load, tile))
#define EIGHTS (T_BK / 8)
#define EIGHT_OF(load, tile, i) (item / 32 + (i) * (READERS(load, tile) / 32))

INLINE int read_pixel(const int load, const int tile, const int item, const int i)
{
    return load == LOAD_PIXELS     ? item % T_BK
           : load == LOAD_CHANNELS ? item / (tile / 4) + i * (READERS(load, tile) / (tile / 4))
                                   : EIGHT_OF(load, tile, i) % EIGHTS * 8 + item % 2 * 4;
}

INLINE int read_column(const int load, const int tile, const int item, const int i)
{
    return load == LOAD_PIXELS     ? item / T_BK + i * (GROUP_ITEMS / T_BK)
           : load == LOAD_CHANNELS ? item % (tile / 4) * 4
                                   : EIGHT_OF(load, tile, i) / EIGHTS * 16 + item / 2 % 16;
}

#define A_READS READS(D_DY_LOAD, T_BM)
#define A_PIXEL(i) read_pixel(D_DY_LOAD, T_BM, item, i)
#define A_COLUMN(i) read_column(D_DY_LOAD, T_BM, item, i)
#define B_READS READS(D_X_LOAD, T_BN)
#define B_PIXEL(i) read_pixel(D_X_LOAD, T_BN, item, i)
#define B_COLUMN(i) read_column(D_X_LOAD, T_BN, item, i)

#if D_DY_LOAD == LOAD_PIXELS
#define A_T ACC_T
#else
#define A_T ACC_4
#endif
#if D_X_LOAD == LOAD_PIXELS
#define B_T ACC_T
#else
#define B_T ACC_4
#endif

/* Writes what was read: one element, four of a row of the piece, or four of a column. */
#define WRITE_1(to, v, pitch) *(to) = (v)
#define WRITE_4(to, v, pitch) *(local ACC_4 *)(to) = (v)
#define WRITE_DOWN(to, v, pitch)                                                                   \
    ((to)[0] = (v).s0, (to)[pitch] = (v).s1, (to)[2 * (pitch)] = (v).s2, (to)[3 * (pitch)] = (v).s3)
#if D_DY_LOAD == LOAD_PIXELS
#define A_WRITE WRITE_1
#elif D_DY_LOAD == LOAD_CHANNELS
#define A_WRITE WRITE_4
#else
#define A_WRITE WRITE_DOWN
#endif
#if D_X_LOAD == LOAD_PIXELS
#define B_WRITE WRITE_1
#elif D_X_LOAD == LOAD_CHANNELS
#define B_WRITE WRITE_4
#else
#define B_WRITE WRITE_DOWN
#endif

/* A pixel of dy, and where its patch begins in x. */
typedef struct {
    INDEX_T dy, image;
    int d, h, w;
    bool real;
} pixel_place;

#define IMAGE_PIXELS (P_DST_D * P_DST_H * P_DST_W)
#if P_IMAGES == 1
#define IMAGE_OF(pixel) 0
#else
#define IMAGE_OF(pixel) ((pixel) / IMAGE_PIXELS)
#endif
#if P_DST_D == 1 && P_DST_H == 1
#define W_OF(within) (within)
#else
#define W_OF(within) ((within) % P_DST_W)
#endif

INLINE pixel_place place_of(const int pixel)
{
    const int image = IMAGE_OF(pixel), within = pixel - image * IMAGE_PIXELS;
    const int w = W_OF(within), h = within / P_DST_W % P_DST_H, d = within / (P_DST_W * P_DST_H);
    const pixel_place p = {(INDEX_T)image * D_DY_IMAGE + (INDEX_T)within * D_DY_PIXEL,
                           (INDEX_T)image * D_X_IMAGE,
                           d * P_STRIDE_D - P_PAD_D,
                           h * P_STRIDE_H - P_PAD_H,
                           w * P_STRIDE_W - P_PAD_W,
                           pixel < PIXELS};
    return p;
}

/* A column: where its tap lies from the patch's beginning, and its channel. */
typedef struct {
    INDEX_T channel;
    int d, h, w;
    bool real;
} column_place;

/* The order of columns: neighbouring ones are taps, or with LOAD_CHANNELS channels. */
#if D_X_LOAD != LOAD_CHANNELS
#define CHANNEL_OF(column) ((column) / TAPS)
#define TAP_OF(column) ((column) % TAPS)
#else
#define CHANNEL_OF(column) ((column) % D_SRC_C)
#define TAP_OF(column) ((column) / D_SRC_C)
#endif

INLINE column_place column_of(const int column)
{
    const int tap = TAP_OF(column);
    const column_place c = {(INDEX_T)CHANNEL_OF(column) * D_X_CHANNEL,
                            tap / (P_FILTER_H * P_FILTER_W) * P_DILATION_D,
                            tap / P_FILTER_W % P_FILTER_H * P_DILATION_H,
                            tap % P_FILTER_W * P_DILATION_W, column < COLUMNS};
    return c;
}

/* Some tap of some pixel lies outside of x. */
#define PADDED(A)                                                                                  \
    (P_PAD_##A > 0 ||                                                                              \
     (P_DST_##A - 1) * P_STRIDE_##A + (P_FILTER_##A - 1) * P_DILATION_##A >= P_SRC_##A)

INLINE bool is_inside(const bool padded, const int at, const int size)
{
    return !padded || (uint)at < (uint)size;
}

INLINE B_T read_x(global const SRC_T *x, const pixel_place *p, const column_place *c)
{
    const int d = p->d + c->d, h = p->h + c->h, w = p->w + c->w;
    const bool inside = is_inside(PADDED(D), d, P_SRC_D) && is_inside(PADDED(H), h, P_SRC_H) &&
                        is_inside(PADDED(W), w, P_SRC_W) && p->real && c->real;
    const INDEX_T from = p->image + c->channel + (INDEX_T)d * D_X_PLANE + (INDEX_T)h * D_X_ROW +
                         (INDEX_T)w * D_X_PIXEL;
    if (!inside)
        return (B_T)((ACC_T)0);
#if D_X_LOAD == LOAD_PIXELS
    return SRC_LOAD(x, from);
#else
    return SRC_LOAD_QUAD(x, from);
#endif
}

INLINE A_T read_dy(global const SRC_T *dy, const pixel_place *p, const int channel)
{
    if (!p->real || channel >= D_DST_C)
        return (A_T)((ACC_T)0);
    const INDEX_T from = p->dy + (INDEX_T)channel * D_DY_CHANNEL;
#if D_DY_LOAD == LOAD_PIXELS
    return SRC_LOAD(dy, from);
#else
    return SRC_LOAD_QUAD(dy, from);
#endif
}

/* Elements of local memory: two pairs of pieces, or later sums of slices. */
#define PIECES (2 * T_BK * (A_PITCH + B_PITCH))
#define ROOM (PIECES > SLICES_ROOM ? PIECES : SLICES_ROOM)

#if T_SPLIT > 1
#define OUT_T ACC_T
#define PUT(i, v) dst[(INDEX_T)part * P_GROUPS * D_DST_C * COLUMNS + (i)] = (v)
#else
#define OUT_T DST_T
#define PUT(i, v) DST_STORE(dst, i, v)
#endif

kernel GROUP_SIZE(GROUP_ITEMS, 1, 1) void gemm_weights(global const SRC_T *restrict x,
                                                       global const SRC_T *restrict dy,
                                                       global OUT_T *restrict dst)
{
    local ACC_T room[ROOM] __attribute__((aligned(16)));
    local ACC_T *as = room, *bs = room + 2 * T_BK * A_PITCH;
    const int tiles_m = (D_DST_C + T_BM - 1) / T_BM;
    const int item = get_local_id(0), tile = get_group_id(0), group = get_group_id(1);
    const int m_first = tile % tiles_m * T_BM, n_first = tile / tiles_m * T_BN;
    const int part = get_group_id(2), steps = (PIXELS + T_BK - 1) / T_BK;
    const int first = (int)((long)steps * part / T_SPLIT),
              last = (int)((long)steps * (part + 1) / T_SPLIT);
    x += (INDEX_T)group * D_SRC_C * D_X_CHANNEL;
    dy += (INDEX_T)group * D_DST_C * D_DY_CHANNEL;

    column_place column[B_READS];
    UNROLL
    for (int i = 0; i < B_READS; i++)
        column[i] = column_of(n_first + B_COLUMN(i));

    ACC_T sum[T_TM][T_TN];
    CLEAR_SUMS(sum)

    A_T a_next[A_READS];
    B_T b_next[B_READS];
    /* Never skipped, and not to be a `for`: it has a barrier, and PoCL 5.0 mistakes the values of
     * all items but the first where such a loop might be skipped. */
    int step = first - 1;
    do {
        const bool more = step + 1 < last;
        if (more) {
            const int pixel = (step + 1) * T_BK;
            if (IS_READER(D_DY_LOAD, T_BM)) {
                UNROLL
                for (int i = 0; i < A_READS; i++) {
                    const pixel_place place = place_of(pixel + A_PIXEL(i));
                    a_next[i] = read_dy(dy, &place, m_first + A_COLUMN(i));
                }
            }
            if (IS_READER(D_X_LOAD, T_BN)) {
                UNROLL
                for (int i = 0; i < B_READS; i++) {
                    const pixel_place place = place_of(pixel + B_PIXEL(i));
                    b_next[i] = read_x(x, &place, &column[i]);
                }
            }
        }
        if (step >= first)
            ADD_PRODUCTS(sum, as + (step & 1) * (T_BK * A_PITCH), A_PITCH,
                         bs + (step & 1) * (T_BK * B_PITCH), B_PITCH);
        if (more) {
            local ACC_T *a_to = as + ((step + 1) & 1) * (T_BK * A_PITCH);
            local ACC_T *b_to = bs + ((step + 1) & 1) * (T_BK * B_PITCH);
            if (IS_READER(D_DY_LOAD, T_BM)) {
                UNROLL
                for (int i = 0; i < A_READS; i++)
                    A_WRITE(a_to + A_PIXEL(i) * A_PITCH + A_COLUMN(i), a_next[i], A_PITCH);
            }
            if (IS_READER(D_X_LOAD, T_BN)) {
                UNROLL
                for (int i = 0; i < B_READS; i++)
                    B_WRITE(b_to + B_PIXEL(i) * B_PITCH + B_COLUMN(i), b_next[i], B_PITCH);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    } while (++step < last);

    ADD_SLICES(sum, room);
    if (SLICE > 0)
        return;
    UNROLL
    for (int j = 0; j < T_TN; j++) {
        const int at = n_first + TILE_COLUMN(j);
        UNROLL
        for (int i = 0; i < T_TM; i++) {
            const int channel = m_first + TILE_ROW(i);
            if (channel < D_DST_C && at < COLUMNS)
                PUT((INDEX_T)(group * D_DST_C + channel) * D_W_K +
                        (INDEX_T)CHANNEL_OF(at) * D_W_C + (INDEX_T)TAP_OF(at) * D_W_TAP,
                    sum[i][j]);
        }
    }
}
