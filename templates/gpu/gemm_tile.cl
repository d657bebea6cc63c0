/* gemm_tile.cl: the product of two pieces in local memory, which the items of a group share.
 *
 *              bs: T_BK x T_BN
 *              +--------------+     32 items stand 4 x 8 on a part of the tile of 4 T_TM x 8 T_TN.
 *              +--------------+     An item has strips of four rows, 16 apart, and of four columns,
 *     as:      +--------------+     32 apart: a read of four values serves four products or more,
 *     T_BK     | tile:        |     and neighbouring items read neighbouring addresses.
 *     x T_BM   | T_BM x T_BN  |
 *              +--------------+
 *
 *   TILE_ITEMS, GROUP_ITEMS      items of a tile, and of a group: D_SLICES times as many
 *   ACC_4                        four times ACC_T
 *   TILE_ROW(i), TILE_COLUMN(j)  row and column in the tile of an item's sum [i][j]
 *   CLEAR_SUMS(sum)              all of an item's sums are 0
 *   ADD_PRODUCTS(sum, as, a_pitch, bs, b_pitch)    adds the products of two pieces, whose rows are
 *                                so far apart
 *   ADD_SLICES(sum, room)        adds up the slices' sums in a fixed order; TILE_ITEMS items have
 *                                them
 *
 * Where tiles are few and sums long, D_SLICES times as many items share a tile: each slice of them
 * multiplies its share of the pieces' rows.
 *
 * Defines   T_BM, T_BN, T_BK, T_TM, T_TN, D_SLICES; those of types.cl
 * Assumes   `item` is the item's number in its group; T_TM and T_TN are multiples of 4, T_BM of 4
 *           T_TM, T_BN of 8 T_TN; D_SLICES is a power of two that divides T_BK; the room for slices
 *           is SLICES_ROOM values of local memory that nobody reads any more.
 */
#include "types.cl"

#define TILE_ITEMS (T_BM * T_BN / (T_TM * T_TN))
#define GROUP_ITEMS (TILE_ITEMS * D_SLICES)
#define TILE_ITEM (D_SLICES == 1 ? item : item % TILE_ITEMS)
#define SLICE (D_SLICES == 1 ? 0 : item / TILE_ITEMS)
#define SLICE_ROWS (T_BK / D_SLICES)
#define SLICES_ROOM (D_SLICES / 2 * T_BM * T_BN)
#define ACC_4 KILN_CAT(ACC_T, 4)

#define PARTS_ACROSS (T_BN / (8 * T_TN))
#define TILE_ROW(i)                                                                                \
    (TILE_ITEM / 32 / PARTS_ACROSS * (4 * T_TM) + item % 32 / 8 * 4 + (i) / 4 * 16 + (i) % 4)
#define TILE_COLUMN(j)                                                                             \
    (TILE_ITEM / 32 % PARTS_ACROSS * (8 * T_TN) + item % 8 * 4 + (j) / 4 * 32 + (j) % 4)

#define CLEAR_SUMS(sum)                                                                            \
    UNROLL                                                                                         \
    for (int i = 0; i < T_TM; i++)                                                                 \
        UNROLL                                                                                     \
        for (int j = 0; j < T_TN; j++)                                                             \
            sum[i][j] = 0;

INLINE void add_products(private ACC_T (*sum)[T_TN], local const ACC_T *as, const int a_pitch,
                         local const ACC_T *bs, const int b_pitch)
{
    UNROLL
    for (int k = 0; k < SLICE_ROWS; k++) {
        ACC_T a[T_TM], b[T_TN];
        UNROLL
        for (int i = 0; i < T_TM; i += 4) {
            const ACC_4 v = *(local const ACC_4 *)(as + k * a_pitch + i * 4);
            a[i] = v.s0, a[i + 1] = v.s1, a[i + 2] = v.s2, a[i + 3] = v.s3;
        }
        UNROLL
        for (int j = 0; j < T_TN; j += 4) {
            const ACC_4 v = *(local const ACC_4 *)(bs + k * b_pitch + j * 8);
            b[j] = v.s0, b[j + 1] = v.s1, b[j + 2] = v.s2, b[j + 3] = v.s3;
        }
        UNROLL
        for (int i = 0; i < T_TM; i++)
            UNROLL
            for (int j = 0; j < T_TN; j++)
                sum[i][j] += a[i] * b[j];
    }
}

#define ADD_PRODUCTS(sum, as, a_pitch, bs, b_pitch)                                                \
    add_products(sum, (as) + SLICE * SLICE_ROWS * (a_pitch) + TILE_ROW(0), a_pitch,                \
                 (bs) + SLICE * SLICE_ROWS * (b_pitch) + TILE_COLUMN(0), b_pitch)

/* As a tree: the upper half of the slices hands its sums to the lower half. */
INLINE void add_slices(private ACC_T (*sum)[T_TN], local ACC_T *room, const int item)
{
    UNROLL
    for (int lower = D_SLICES / 2; lower > 0; lower /= 2) {
        local ACC_T *own = room + SLICE % lower * (T_BM * T_BN) + TILE_ITEM;
        if (SLICE >= lower && SLICE < 2 * lower)
            UNROLL
            for (int i = 0; i < T_TM * T_TN; i++)
                own[i * TILE_ITEMS] = sum[i / T_TN][i % T_TN];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (SLICE < lower)
            UNROLL
            for (int i = 0; i < T_TM * T_TN; i++)
                sum[i / T_TN][i % T_TN] += own[i * TILE_ITEMS];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

#define ADD_SLICES(sum, room) add_slices(sum, room, item)
