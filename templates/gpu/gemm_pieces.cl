/* gemm_pieces.cl: what an item of gemm.cl brings to local memory for a step: weights, and elements
 * of the source.
 *
 *                 T_BN pixels                      T_BM channels
 *             b_column                            a_column
 *                 v                                  v
 *     b_row > # . . # . .   LOAD_ONE       a_row > # # # # . .
 *             . . . . . .                          . . . . . .      terms
 *             # . . # . .                          # # # # . .
 *
 * An item reads several rows, B_DOWN or A_DOWN apart, in LOAD_PIXELS four neighbours of a row at a
 * time, in LOAD_CHANNELS four neighbours of a column.
 *
 * Defines   see gemm.cl
 * Assumes   gemm_places.cl and gemm_tile.cl.
 */
#define LOAD_ONE 0
#define LOAD_PIXELS 1   /* four neighbouring ones: filters of one tap without stride and padding */
#define LOAD_CHANNELS 2 /* four neighbouring ones */

/* Rows of As are read four channels at a time, by the first A_READERS items. */
#define A_ACROSS (T_BM / 4)
#define A_READERS (GROUP_ITEMS < T_BK * A_ACROSS ? GROUP_ITEMS : T_BK * A_ACROSS)
#define A_DOWN (A_READERS / A_ACROSS)
#define A_TIMES (T_BK / A_DOWN)

/* Bs: an item reads B_TIMES rows, B_DOWN apart, of B_PIXELS columns, B_NEXT apart. */
#if D_LOAD == LOAD_CHANNELS
#define B_ACROSS (GROUP_ITEMS / (T_BK / 4)) /* pixels */
#define B_PIXELS (T_BN / B_ACROSS)
#define B_NEXT B_ACROSS
#define B_TIMES 1
#define B_PITCH (T_BN + 4)
#else
#define B_WIDTH (D_LOAD == LOAD_PIXELS ? 4 : 1)
#define B_ACROSS (GROUP_ITEMS * B_WIDTH < T_BN ? GROUP_ITEMS : T_BN / B_WIDTH)
#define B_PIXELS (T_BN / (B_ACROSS * B_WIDTH))
#define B_NEXT (B_ACROSS * B_WIDTH)
#define B_DOWN (GROUP_ITEMS / B_ACROSS < T_BK ? GROUP_ITEMS / B_ACROSS : T_BK)
#define B_TIMES (T_BK / B_DOWN)
#define B_PITCH T_BN
#endif
#if D_LOAD == LOAD_ONE
#define B_T ACC_T
#else
#define B_T ACC_4
#endif
#if D_FLAT || D_SRC_C == D_CHANNELS
#define IS_CHANNEL(c) true
#else
#define IS_CHANNEL(c) ((c) < D_SRC_C)
#endif

/* Where the steps stand: a tap and a channel, or with D_FLAT a term. */
typedef struct {
    tap_index tap;
    int c;
} step_place;

/* All taps of some channels come before other channels: their elements are near one another, so
 * that caches have most of them. */
INLINE void next_step(step_place *at, const phase_taps *t)
{
#if !D_FLAT
    if (++at->tap.w < t->w.count)
        return;
    at->tap.w = 0;
    if (++at->tap.h < t->h.count)
        return;
    at->tap.h = 0;
    if (++at->tap.d < t->d.count)
        return;
    at->tap.d = 0;
#endif
    at->c += T_BK;
}

INLINE ACC_4 read_weights(global const ACC_T *packed, const phase_taps *t, const step_place *at,
                          const int row)
{
#if D_FLAT && !D_TABLE
    const int term = at->c + row, terms = t->d.count * t->h.count * t->w.count * D_SRC_C;
    if (term >= terms)
        return (ACC_4)((ACC_T)0);
    const int from = filter_tap(t, tap_at(t, term / D_SRC_C)) * D_SRC_C + term % D_SRC_C;
#elif D_TABLE
    const int from = at->c + row;
#else
    const int from = filter_tap(t, at->tap) * D_CHANNELS + at->c + row;
#endif
    return QUAD_AT(ACC_T, packed + (INDEX_T)from * D_COLUMNS);
}

/* One element, or four, of the channel or term in `row` of the step. */
INLINE B_T read_source(global const SRC_T *src, global const int *table, const phase_taps *t,
                       const pixel_place *p, const INDEX_T from, const step_place *at,
                       const int row)
{
#if D_TABLE
    const int4 term = QUAD_AT(int, table + 4 * (at->c + row));
    const int d = p->d + term.s0, h = p->h + term.s1, w = p->w + term.s2;
    return is_inside(d, h, w)
               ? SRC_LOAD(src, p->image + element_of(d, h, w) + (INDEX_T)term.s3 * D_SRC_CHANNEL)
               : 0;
#elif D_FLAT
    const int term = at->c + row, terms = t->d.count * t->h.count * t->w.count * D_SRC_C;
    if (term >= terms)
        return 0;
    const INDEX_T element = source_of(p, tap_at(t, term / D_SRC_C));
    return element < 0 ? 0 : SRC_LOAD(src, element + (INDEX_T)(term % D_SRC_C) * D_SRC_CHANNEL);
#else
    const int c = at->c + row;
    if (from < 0)
        return (B_T)((ACC_T)0);
    if (!IS_CHANNEL(c))
        return (B_T)((ACC_T)0);
#if D_LOAD == LOAD_ONE
    return SRC_LOAD(src, from + (INDEX_T)c * D_SRC_CHANNEL);
#else
    return SRC_LOAD_QUAD(src, from + (INDEX_T)c * D_SRC_CHANNEL);
#endif
#endif
}
