/* winograd_weights.cl: backward weights of 3x3 convolutions with stride 1 by Winograd's minimal
 * filtering, shaped for a CPU.
 *
 * The gradient of a filter is itself a convolution, of x with dy as the filter. dy is cut into
 * tiles of 4x4; each meets a patch of 6x6 of x and contributes to all 3x3 weights, F(3x3, 4x4):
 *
 *     dw[k][c] = A^T [ sum over tiles of (G dy[k] G^T) * (B^T x[c] B) ] A        (* by element)
 *
 * so that the sum over tiles is 36 matrix products, and 36 multiply-adds do the work of 144.
 *
 *          lead   tile 0    tile 1
 *           |   +---------+---------+         patches of neighbouring tiles share two columns and
 *         . . . . . . . . . . . . . .         two rows; zero outside of x, and tiles are zero
 *         . patch 0 . . .                     outside of dy
 *                 . patch 1 . . .
 *
 * Four steps, through the workspace:
 *   `source`    v = B^T x B       [36][blocks of C][D_ROOM][D_B], a vector is D_B channels of a
 *                                 tile
 *   `gradient`  u = G dy G^T      [36][blocks of K][D_ROOM][D_B]
 *   `products`  m = u^T v         [36][K, whole blocks][blocks of C][D_B]: an item has T_K rows and
 *                                 T_CV vectors of one product, and adds up all tiles
 *   `weights`   dw = A^T m A
 *
 * With T_ROWS 0 each step is a launch, over all tiles at once. With T_PARTS 0 as well, `filters`
 * does the last two steps: an item keeps its tile of all 36 products until they become dw, so that
 * m does not pass through memory where m is larger than x and dy. Else `part` does the first three
 * steps for T_ROWS rows of tiles at a time, while these are in the cache of its core: each of
 * T_PARTS parts of all rows has its own v, u and m, and `weights` adds up the parts of m, in order.
 *
 *                    T_CV vectors of v
 *                   [      ][      ][      ]
 *          u   .    [ acc  ][ acc  ][ acc  ]     T_K rows: a vector of sums each, a row's factor is
 *       T_K    .    [ acc  ][ acc  ][ acc  ]     one element of u
 *
 * Grids, all in groups of one item. `source`, `gradient`: (images * rows of tiles, blocks).
 * `products`: (tiles of K * tiles of C, 36). `filters`: (tiles of K * tiles of C). `part`:
 * (T_PARTS). `weights`: (K / D_W_KEPT, blocks of C).
 *
 * Defines, besides those of the files included:
 *   D_B                  channels of a block, lanes of a vector: 4, 8 or 16
 *   P_SRC_H, P_SRC_W     sizes of x; P_DST_H, P_DST_W of dy
 *   D_SRC_C, D_DST_C     channels of x, of dy
 *   D_LEAD_H, D_LEAD_W   tile (0, 0) starts its patch at (-D_LEAD_H, -D_LEAD_W)
 *   D_TILES_H, D_TILES_W tiles of an image; D_ROOM tiles of all images, or of T_ROWS rows
 *   D_ROWS, D_PART       rows of tiles of all images, of a part
 *   T_K, T_CV            above; T_K divides D_B, T_CV <= blocks of C
 *   T_ROWS, T_PARTS      above
 *   D_W_KEPT             filters of neighbouring channels that an item stores together, because
 *                        they are neighbours in dw: T_K in `filters`, D_B in `weights`; else 1
 *   D_W_K, D_W_C, D_W_TAP    elements of dw from a channel of dy, of x, and a tap to the next one
 */
#include "transpose.cl"
#include "winograd_weights_tiles.cl"

#define D_K_TILES (D_K_BLOCKS * D_B / T_K)
#define D_PRODUCTS (D_K_TILES * ((D_C_BLOCKS + T_CV - 1) / T_CV))
/* A vector more than needed, as in planes of v and u. */
#define D_M_PLANE ((INDEX_T)(D_K_BLOCKS * D_B * D_C_BLOCKS + 1) * D_B)

/* ---- the products ---- */

/* The last tile of channels starts earlier; what it shares with its neighbour is stored by one of
 * them. */
#define FIRST_K(tile) ((tile) % D_K_TILES * T_K)
#define OWN_C(tile) ((tile) / D_K_TILES * T_CV)
#define FIRST_C(tile) min(OWN_C(tile), D_C_BLOCKS - T_CV)
#define IS_OWN(tile, i) (D_C_BLOCKS % T_CV == 0 || FIRST_C(tile) + (i) >= OWN_C(tile))

/* Tile `tile` of product e over the first `count` tiles of x and dy. */
INLINE void sums(ACC_V *acc, global const ACC_T *v, global const ACC_T *u, const int tile,
                 const int e, const int count)
{
    const int k0 = FIRST_K(tile), c0 = FIRST_C(tile);
    v += e * D_V_PLANE + (INDEX_T)c0 * D_ROOM * D_B;
    u += e * D_U_PLANE + (INDEX_T)(k0 / D_B) * D_ROOM * D_B + k0 % D_B;
#pragma unroll
    for (int i = 0; i < T_K * T_CV; i++)
        acc[i] = (ACC_V)(0);
#pragma unroll 2
    for (int t = 0; t < count; t++) {
        ACC_V a[T_CV];
#pragma unroll
        for (int i = 0; i < T_CV; i++)
            a[i] = LOAD_V(v + ((INDEX_T)i * D_ROOM + t) * D_B);
#pragma unroll
        for (int k = 0; k < T_K; k++) {
            const ACC_V b = (ACC_V)(u[(INDEX_T)t * D_B + k]);
#pragma unroll
            for (int i = 0; i < T_CV; i++)
                acc[k * T_CV + i] += a[i] * b;
        }
    }
}

/* The same, added to what is there unless `fresh`. */
INLINE void product(global const ACC_T *v, global const ACC_T *u, global ACC_T *m, const int tile,
                    const int e, const int count, const bool fresh)
{
    ACC_V acc[T_K * T_CV];
    sums(acc, v, u, tile, e, count);
    m += e * D_M_PLANE + ((INDEX_T)FIRST_K(tile) * D_C_BLOCKS + FIRST_C(tile)) * D_B;
#pragma unroll
    for (int k = 0; k < T_K; k++)
#pragma unroll
        for (int i = 0; i < T_CV; i++)
            if (IS_OWN(tile, i)) {
                global ACC_T *to = m + (k * D_C_BLOCKS + i) * D_B;
                const ACC_V sum = acc[k * T_CV + i];
                STORE_V(to, fresh ? sum : sum + LOAD_V(to));
            }
}

/* ---- dw ---- */

/* The filter of one channel k and one block, from 36 vectors `apart` from each other. */
INLINE void filter(private const ACC_V *m, const int apart, private ACC_V *taps)
{
    ACC_V mid[3][6];
#pragma unroll
    for (int j = 0; j < 6; j++) {
        ACC_V column[6], o[3];
#pragma unroll
        for (int i = 0; i < 6; i++)
            column[i] = m[(i * 6 + j) * apart];
        times_a(TAPS, column, o);
#pragma unroll
        for (int i = 0; i < 3; i++)
            mid[i][j] = o[i];
    }
#pragma unroll
    for (int i = 0; i < 3; i++)
        times_a(TAPS, mid[i], taps + i * 3);
}

/* Stores the filters of `count` neighbouring channels from k on, of one block. */
#if D_W_KEPT == 1
INLINE void put(private const ACC_V *filters, global DST_T *dw, const int k, const int count,
                const int block)
{
    private const ACC_T *from = (private const ACC_T *)filters;
    const int channels = min(D_B, D_SRC_C - block * D_B);
    dw += (INDEX_T)k * D_W_K + (INDEX_T)(block * D_B) * D_W_C;
    for (int c = 0; c < channels; c++)
#pragma unroll
        for (int tap = 0; tap < 9; tap++)
            DST_STORE(dw, (INDEX_T)c * D_W_C + (INDEX_T)tap * D_W_TAP, from[tap * D_B + c]);
}
#else
KILN_DEFINE_TRANSPOSE(transpose, ACC_V)

INLINE void put(private const ACC_V *filters, global DST_T *dw, const int k, const int count,
                const int block)
{
    const int channels = min(D_B, D_SRC_C - block * D_B);
    dw += (INDEX_T)k * D_W_K + (INDEX_T)(block * D_B) * D_W_C;
#pragma nounroll
    for (int tap = 0; tap < 9; tap++, dw += D_W_TAP) {
        ACC_V square[D_B];
#pragma unroll
        for (int i = 0; i < D_B; i++)
            square[i] = i < count ? filters[min(i, D_W_KEPT - 1) * 9 + tap] : (ACC_V)((ACC_T)0);
        transpose(square);
        for (int c = 0; c < channels; c++) {
            global DST_T *to = dw + (INDEX_T)c * D_W_C;
            private const ACC_T *lane = (private const ACC_T *)(square + c);
            if (count == D_B)
                DST_STOREN(D_B, to, 0, square[c]);
            else
                for (int i = 0; i < count; i++)
                    DST_STORE(to, i, lane[i]);
        }
    }
}
#endif

/* ---- steps ---- */

#if T_ROWS == 0
kernel GROUP_SIZE(1, 1, 1) void source(global const SRC_T *restrict x, global ACC_T *restrict v)
{
    source_row(x, v, get_global_id(0), get_global_id(0), get_global_id(1));
}

kernel GROUP_SIZE(1, 1, 1) void gradient(global const SRC_T *restrict dy, global ACC_T *restrict u)
{
    gradient_row(dy, u, get_global_id(0), get_global_id(0), get_global_id(1));
}
#endif

#if T_PARTS == 0
kernel GROUP_SIZE(1, 1, 1) void filters(global const ACC_T *restrict v,
                                        global const ACC_T *restrict u, global DST_T *restrict dw)
{
    const int tile = get_global_id(0);
    ACC_V m[36 * T_K * T_CV];
#pragma nounroll
    for (int e = 0; e < 36; e++) {
        ACC_V acc[T_K * T_CV];
        sums(acc, v, u, tile, e, D_ROOM);
#pragma unroll
        for (int i = 0; i < T_K * T_CV; i++)
            m[e * T_K * T_CV + i] = acc[i];
    }
#pragma nounroll
    for (int i = 0; i < T_K * T_CV; i += D_W_KEPT) {
        /* Neighbours of one block are kept together, or none are. */
        const int c = D_W_KEPT == 1 ? i % T_CV : i / T_K, first = D_W_KEPT == 1 ? i / T_CV : 0;
        const int k = FIRST_K(tile) + first, count = min(D_W_KEPT, D_DST_C - k);
        if (!IS_OWN(tile, c) || count <= 0)
            continue;
        ACC_V filters[D_W_KEPT * 9];
        for (int j = 0; j < count; j++)
            filter(m + (first + j) * T_CV + c, T_K * T_CV, filters + j * 9);
        put(filters, dw, k, count, FIRST_C(tile) + c);
    }
}
#else
#if T_ROWS == 0
kernel GROUP_SIZE(1, 1, 1) void products(global const ACC_T *restrict v,
                                         global const ACC_T *restrict u, global ACC_T *restrict m)
{
    product(v, u, m, get_global_id(0), get_global_id(1), D_ROOM, true);
}
#else
kernel GROUP_SIZE(1, 1, 1) void part(global const SRC_T *restrict x,
                                     global const SRC_T *restrict dy, global ACC_T *restrict v,
                                     global ACC_T *restrict u, global ACC_T *restrict m)
{
    const int part = get_global_id(0), begin = part * D_PART, end = min(begin + D_PART, D_ROWS);
    v += 36 * part * D_V_PLANE;
    u += 36 * part * D_U_PLANE;
    m += 36 * part * D_M_PLANE;
#pragma nounroll
    for (int from = begin; from < end; from += T_ROWS) {
        const int rows = min(T_ROWS, end - from);
#pragma nounroll
        for (int i = 0; i < rows; i++) {
#pragma nounroll
            for (int block = 0; block < D_C_BLOCKS; block++)
                source_row(x, v, from + i, i, block);
#pragma nounroll
            for (int block = 0; block < D_K_BLOCKS; block++)
                gradient_row(dy, u, from + i, i, block);
        }
#pragma nounroll
        for (int e = 0; e < 36; e++)
#pragma nounroll
            for (int tile = 0; tile < D_PRODUCTS; tile++)
                product(v, u, m, tile, e, rows * D_TILES_W, from == begin);
    }
}
#endif

kernel GROUP_SIZE(1, 1, 1) void weights(global const ACC_T *restrict m, global DST_T *restrict dw)
{
    const int k = get_global_id(0) * D_W_KEPT, block = get_global_id(1);
    const int count = min(D_W_KEPT, D_DST_C - k);
    m += ((INDEX_T)k * D_C_BLOCKS + block) * D_B;
    ACC_V filters[D_W_KEPT * 9];
#pragma nounroll
    for (int i = 0; i < count; i++, m += D_C_BLOCKS * D_B) {
        ACC_V all[36];
#pragma unroll
        for (int e = 0; e < 36; e++) {
            all[e] = LOAD_V(m + e * D_M_PLANE);
            for (int part = 1; part < T_PARTS; part++)
                all[e] += LOAD_V(m + (part * 36 + e) * D_M_PLANE);
        }
        filter(all, 1, filters + i * 9);
    }
    put(filters, dw, k, count, block);
}
#endif
