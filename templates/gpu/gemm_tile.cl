/* gemm_tile.cl: the product of two pieces in local memory, which the items of a group share.
 *
 *              bs: T_BK x T_BN
 *              +--------------+       32 items stand 4 x 8 on a part of the tile of 4 T_TM x 8 T_TN.
 *              +--------------+       An item has strips of four rows, 16 apart, and of four columns,
 *     as:      +--------------+       32 apart: a read of four values serves four products or more,
 *     T_BK     | tile:        |       and neighbouring items read neighbouring addresses.
 *     x T_BM   | T_BM x T_BN  |
 *              +--------------+
 *
 *   GROUP_ITEMS                  items of a group
 *   ACC_4                        four times ACC_T
 *   TILE_ROW(i), TILE_COLUMN(j)  row and column in the tile of an item's sum [i][j]
 *   CLEAR_SUMS(sum)              all of an item's sums are 0
 *   ADD_PRODUCTS(sum, as, a_pitch, bs, b_pitch)    adds the products of two pieces, whose rows are so
 *                                far apart
 *
 * Defines   T_BM, T_BN, T_BK, T_TM, T_TN; those of types.cl
 * Assumes   `item` is the item's number in its group; T_TM and T_TN are multiples of 4, T_BM of 4 T_TM,
 *           T_BN of 8 T_TN.
 */
#include "types.cl"

#define GROUP_ITEMS (T_BM * T_BN / (T_TM * T_TN))
#define ACC_4 KILN_CAT(ACC_T, 4)

#define PARTS_ACROSS (T_BN / (8 * T_TN))
#define TILE_ROW(i) (item / 32 / PARTS_ACROSS * (4 * T_TM) + item % 32 / 8 * 4 + (i) / 4 * 16 + (i) % 4)
#define TILE_COLUMN(j)                                                                             \
    (item / 32 % PARTS_ACROSS * (8 * T_TN) + item % 8 * 4 + (j) / 4 * 32 + (j) % 4)

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
    for (int k = 0; k < T_BK; k++) {
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
    add_products(sum, (as) + TILE_ROW(0), a_pitch, (bs) + TILE_COLUMN(0), b_pitch)
