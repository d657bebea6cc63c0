/* weights_blocked_places.cl: moves the sums of weights_blocked.cl to a dw in any order of its axes,
 * and adds up their parts, in order.
 *
 * The sums of a tap lie in rows of D_B lanes. Lanes that are neighbours in dw are stored as
 * vectors; where the rows are, squares of rows and lanes are transposed first:
 *
 *     D_LANES   sums                                  a row is       lanes are
 *     0  (C)    [K / D_B][C / D_B][taps][rows][D_B]   a channel k    channels c
 *     1  (K)    [K / D_B][rows = C][taps][D_B]        a channel c    channels k
 *
 * With lanes 1, filters whose taps are neighbours have one tap, and their rows are all weights of
 * a channel k.
 *
 * Grid: (blocks of K, blocks of rows or of C), groups of one item (see items.cl).
 *
 * Defines, besides those of the files included:
 *   D_B, D_LANES        above
 *   D_DST_C, D_SRC_C    channels k, channels c of a group
 *   D_TAPS              taps
 *   D_CELLS             elements of one part; T_PARTS parts
 *   D_W_K, D_W_C, D_W_TAP   elements of dw from a channel k, a channel c, and a tap to the next one
 */
#include "items.cl"
#include "transpose.cl"
#include "vectors.cl"

#define D_BLOCKS_C ((D_SRC_C + D_B - 1) / D_B)

/* Elements between neighbouring rows and lanes: of the sums, and of dw. */
#if D_LANES == 0
#define ROW D_B
#define W_ROW D_W_K
#define W_LANE D_W_C
#define OUT_AT(kb, cb, tap) ((((INDEX_T)(kb) * D_BLOCKS_C + (cb)) * D_TAPS + (tap)) * D_B * D_B)
#else
#define ROW (D_TAPS * D_B)
#define W_ROW D_W_C
#define W_LANE D_W_K
#define OUT_AT(kb, cb, tap) ((((INDEX_T)(kb) * D_SRC_C + (cb) * D_B) * D_TAPS + (tap)) * D_B)
#endif

KILN_DEFINE_TRANSPOSE(transpose, ACC_V)

INLINE ACC_V row_of(global const ACC_T *sums)
{
    ACC_V sum = LOAD_V(sums);
    for (int part = 1; part < T_PARTS; part++)
        sum += LOAD_V(sums + (INDEX_T)part * D_CELLS);
    return sum;
}

/* The first `count` lanes. */
INLINE void put(global DST_T *dw, const ACC_V v, const int count, const INDEX_T apart)
{
    if (apart == 1 && count == D_B) {
        DST_STOREN(D_B, dw, 0, v);
        return;
    }
    ACC_T lane[D_B] __attribute__((aligned(64)));
    *(private ACC_V *)lane = v;
    for (int i = 0; i < count; i++)
        DST_STORE(dw, i * apart, lane[i]);
}

/* A tap of `rows` rows and `lanes` lanes. */
INLINE void square(global const ACC_T *sums, global DST_T *dw, const int rows, const int lanes)
{
#if W_ROW == 1 && W_LANE != 1
    ACC_V t[D_B];
#pragma unroll
    for (int r = 0; r < D_B; r++)
        t[r] = r < rows ? row_of(sums + (INDEX_T)r * ROW) : (ACC_V)((ACC_T)0);
    transpose(t);
#pragma unroll
    for (int i = 0; i < D_B; i++)
        if (i < lanes)
            put(dw + (INDEX_T)i * W_LANE, t[i], rows, 1);
#else
    for (int r = 0; r < rows; r++)
        put(dw + (INDEX_T)r * W_ROW, row_of(sums + (INDEX_T)r * ROW), lanes, W_LANE);
#endif
}

INLINE void item(global const ACC_T *sums, global DST_T *dw, const int kb, const int cb)
{
    const int k = min(D_B, D_DST_C - kb * D_B), c = min(D_B, D_SRC_C - cb * D_B);
    dw += (INDEX_T)kb * D_B * D_W_K + (INDEX_T)cb * D_B * D_W_C;
    for (int tap = 0; tap < D_TAPS; tap++)
        square(sums + OUT_AT(kb, cb, tap), dw + (INDEX_T)tap * D_W_TAP, D_LANES ? c : k,
               D_LANES ? k : c);
}

#define ITEM_HERE item(sums, dw, ITEM(0), ITEM(1))
DEFINE_ITEM(ITEM_HERE, (global const ACC_T *sums, global DST_T *dw))

kernel GROUP_SIZE(1, 1, 1) void weights_blocked_places(global const ACC_T *restrict sums,
                                                       global DST_T *restrict dw ITEMS_PARAM)
{
    EACH_ITEM(ITEM_HERE, (sums, dw))
}
