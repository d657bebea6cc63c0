/* mma_tile.cl: a group's tile of a product on tensor cores, shared by its warps.
 *
 *              T_COLUMNS                      T_WARPS_R x T_WARPS_C warps; a warp has WARP_ROWS x
 *             +-------+-------+               WARP_COLUMNS of it, in its items' registers: SUMS_R x
 *     T_ROWS  | warp  | warp  |               SUMS_C products of 16 x 8, as mma.cl says.
 *             +-------+-------+
 *
 *   GROUP_ITEMS                     items of a group
 *   WARP_ROW(warp), WARP_COLUMN(warp)   the first row and column of a warp's part
 *   CLEAR_SUMS(sum)                 all of an item's sums are 0
 *   slice, add_slice(sum, &slice)   the factors of a warp's part for 32 bytes of terms, and their
 *                                   product
 *   SUM_ROWS, SUM_ROW(i)            an item's rows, in its warp's part; it has pairs of each row:
 *   SUM_COLUMN(j)                   columns SUM_COLUMN(j) and the next one, j < SUMS_C:
 *   SUM_AT(sum, i, j, e)            the sum in row i and column e of pair j
 *
 * Defines   T_ROWS, T_COLUMNS, T_WARPS_R, T_WARPS_C; T_WGMMA, the products are those of wgmma.cl;
 *           those of mma.cl
 * Assumes   `lane` is the item's number in its warp.
 */
#include "mma.cl"

#define GROUP_ITEMS (32 * T_WARPS_R * T_WARPS_C)
#define WARP_ROWS (T_ROWS / T_WARPS_R)
#define WARP_COLUMNS (T_COLUMNS / T_WARPS_C)
#if T_WGMMA /* four warps have 16 neighbouring rows each of 64 */
#define WARP_ROW(warp) ((warp) / 4 * 4 * WARP_ROWS + (warp) % 4 * 16)
#define SUM_ROW(i) ((i) / 2 * 64 + (i) % 2 * 8 + lane / 4)
#else
#define WARP_ROW(warp) ((warp) / T_WARPS_C * WARP_ROWS)
#define SUM_ROW(i) ((i) * 8 + lane / 4)
#endif
#define WARP_COLUMN(warp) ((warp) % T_WARPS_C * WARP_COLUMNS)
#define SUMS_R (WARP_ROWS / 16)
#define SUMS_C (WARP_COLUMNS / 8)

#define CLEAR_SUMS(sum)                                                                            \
    UNROLL                                                                                         \
    for (int i = 0; i < SUMS_R; i++)                                                               \
        UNROLL                                                                                     \
        for (int j = 0; j < SUMS_C; j++)                                                           \
            UNROLL                                                                                 \
            for (int e = 0; e < 4; e++)                                                            \
                sum[i][j][e] = 0;

typedef struct {
    uint left[SUMS_R][4], right[SUMS_C / 2][4];
} slice;

INLINE void add_slice(ACC_T sum[SUMS_R][SUMS_C][4], const slice *s)
{
    UNROLL
    for (int i = 0; i < SUMS_R; i++)
        UNROLL
        for (int j = 0; j < SUMS_C; j++)
            multiply(sum[i][j], s->left[i], &s->right[j / 2][j % 2 * 2]);
}

/* Two neighbouring sums, both aligned as one where `even`; the second one exists where `two`. */
#define PUT_PAIR(to, even, two, a, b)                                                              \
    do {                                                                                           \
        if (even)                                                                                  \
            *(global KILN_CAT(ACC_T, 2) *)(to) = (KILN_CAT(ACC_T, 2))(a, b);                       \
        else {                                                                                     \
            *(to) = (a);                                                                           \
            if (two)                                                                               \
                (to)[1] = (b);                                                                     \
        }                                                                                          \
    } while (0)

#define SUM_ROWS (2 * SUMS_R)
#define SUM_COLUMN(j) ((j) * 8 + lane % 4 * 2)
#define SUM_AT(sum, i, j, e) sum[(i) / 2][j][(i) % 2 * 2 + (e)]
