/* gemm_mma_results.cl: the end of the sums of gemm_mma.cl. Sums of several teams are added; parts
 * of a split sum are stored as they are; all others are finished and pass through local memory, so
 * that neighbouring items write long runs.
 *
 *   LOCAL_BYTES       bytes of local memory that a group needs, its stages included
 *   OUT_T, OUT_PARAMS what the kernel writes, and its arguments for the epilogue
 *   add_teams(sum, room, team, item)    where there are several
 *   put_parts, put_phases, finish_results and write_results
 *                     with T_SPLIT, with D_MERGED, else; `m` and `n` are the first pixel and
 *                     channel of the warp's part
 *
 * Assumes   what gemm_mma.cl includes before it.
 */
#include "mma_bits.cl"

/* Phases that have groups of their own, and that are columns of the tile. */
#define GROUP_PHASES (D_MERGED ? 1 : PHASES)
#define COLUMN_PHASES (D_MERGED ? PHASES : 1)
#define PHASE_OF(column) (D_MERGED ? (column) % PHASES : phase)

/* Finishes a sum and stores it, if the pixel exists. */
INLINE void put_result(global DST_T *dst, const int pixel, const int phase, const int own,
                       const ACC_T sum EPILOGUE_PARAMS)
{
    const INDEX_T to = result_of(pixel, phase), e = to + DST_CHANNEL(own);
    if (to >= 0)
        DST_STORE(dst, e, FINISH(sum, own, e));
}
#define PUT_RESULT(pixel, column, sum)                                                             \
    put_result(dst, pixel, PHASE_OF(column), (group * D_DST_C + (column)) / COLUMN_PHASES,         \
               sum EPILOGUE_PASS)

#if T_SPLIT > 1
/* Sums of a part, in the order part, group, phase, pixel, channel. */
#define PART_OF(part, group_phase, pixel, channel)                                                 \
    ((((INDEX_T)(part) * (P_GROUPS * GROUP_PHASES) + (group_phase)) * PIXELS + (pixel)) *          \
     D_DST_C +                                                                                     \
     (channel))
#define OUT_T ACC_T
#define OUT_PARAMS

/* `m` and `n` are the first pixel and channel of the warp's part. */
INLINE void put_parts(global ACC_T *dst, const ACC_T sum[SUMS_R][SUMS_C][4], const int m,
                      const int n, const int part, const int group_phase, const int lane)
{
    UNROLL
    for (int i = 0; i < SUM_ROWS; i++) {
        const int pixel = m + SUM_ROW(i);
        UNROLL
        for (int j = 0; j < SUMS_C; j++) {
            const int channel = n + SUM_COLUMN(j);
            if (pixel < PIXELS && channel < D_DST_C)
                PUT_PAIR(dst + PART_OF(part, group_phase, pixel, channel), D_DST_C % 2 == 0,
                         channel + 1 < D_DST_C, SUM_AT(sum, i, j, 0), SUM_AT(sum, i, j, 1));
        }
    }
}
#else
#define OUT_T DST_T
#define OUT_PARAMS EPILOGUE_PARAMS
#endif

#if T_SPLIT == 1 && D_MERGED
INLINE void put_phases(global DST_T *dst, const ACC_T sum[SUMS_R][SUMS_C][4], const int m,
                       const int n, const int group, const int lane EPILOGUE_PARAMS)
{
    const int phase = 0;
    UNROLL
    for (int i = 0; i < SUM_ROWS; i++)
        UNROLL
        for (int j = 0; j < SUMS_C; j++)
            UNROLL
            for (int e = 0; e < 2; e++)
                if (n + SUM_COLUMN(j) + e < D_DST_C)
                    PUT_RESULT(m + SUM_ROW(i), n + SUM_COLUMN(j) + e, SUM_AT(sum, i, j, e));
}
#endif

/* No more stages than steps. */
#define PIECES_BYTES ((T_STAGES < D_ROW / TERMS ? T_STAGES : D_ROW / TERMS) * STAGE_BYTES)

/* Results pass through local memory, so that neighbouring items write long runs. */
#if T_SPLIT == 1 && !D_MERGED
#define EXCHANGED 1
#define BITS_PITCH (T_COLUMNS + (D_OUT_UNIT ? 16 : DST_BYTES == 4 ? 8 : 4) / DST_BYTES)
#define RESULT_BYTES (T_ROWS * BITS_PITCH * DST_BYTES)
#else
#define EXCHANGED 0
#define RESULT_BYTES 0
#endif
#define SUM_BYTES ((TEAMS - 1) * T_ROWS * T_COLUMNS * 4)
#define MORE_BYTES (RESULT_BYTES > SUM_BYTES ? RESULT_BYTES : SUM_BYTES)
#define LOCAL_BYTES (PIECES_BYTES > MORE_BYTES ? PIECES_BYTES : MORE_BYTES)

#if TEAMS > 1
/* Adds the other teams' sums to the sums of team 0. */
INLINE void add_teams(ACC_T sum[SUMS_R][SUMS_C][4], local ACC_T *room, const int team,
                      const int item)
{
    if (team > 0) {
        local ACC_T *to = room + (team - 1) * T_ROWS * T_COLUMNS + item;
        UNROLL
        for (int n = 0; n < SUMS_R * SUMS_C * 4; n++)
            to[n * TEAM_ITEMS] = sum[n / (SUMS_C * 4)][n / 4 % SUMS_C][n % 4];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int other = 1; other < TEAMS && team == 0; other++) {
        local const ACC_T *from = room + (other - 1) * T_ROWS * T_COLUMNS + item;
        UNROLL
        for (int n = 0; n < SUMS_R * SUMS_C * 4; n++)
            sum[n / (SUMS_C * 4)][n / 4 % SUMS_C][n % 4] += from[n * TEAM_ITEMS];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}
#endif

#if EXCHANGED
/* `to` is the place of the warp's part. */
INLINE void finish_results(local BITS_T *to, const ACC_T sum[SUMS_R][SUMS_C][4], const int m,
                           const int n, const int group, const int phase,
                           const int lane EPILOGUE_PARAMS)
{
    UNROLL
    for (int i = 0; i < SUM_ROWS; i++) {
        const INDEX_T first = result_of(m + SUM_ROW(i), phase);
        UNROLL
        for (int j = 0; j < SUMS_C; j++) {
            const int channel = n + SUM_COLUMN(j), own = group * D_DST_C + channel;
            VAL_T v[2] = {0, 0};
            UNROLL
            for (int e = 0; e < 2; e++)
                if (first >= 0 && channel + e < D_DST_C)
                    v[e] = FINISH(SUM_AT(sum, i, j, e), own + e, first + DST_CHANNEL(own + e));
            *(local BITS_PAIR_T *)(to + SUM_ROW(i) * BITS_PITCH + SUM_COLUMN(j)) =
                BITS_PAIR(v[0], v[1]);
        }
    }
}

INLINE void write_results(global DST_T *dst, local const BITS_T *tile, const int item,
                          const int m_first, const int n_first, const int group, const int phase)
{
    global BITS_T *to = (global BITS_T *)dst;
#if D_OUT_UNIT
    const int elements = D_OUT_UNIT / DST_BYTES, across = T_COLUMNS / elements;
    for (int i = item; i < T_ROWS * across; i += ALL_ITEMS) {
        const int row = D_DST_BLOCKS > 1 ? i % T_ROWS : i / across,
                  channel = (D_DST_BLOCKS > 1 ? i / T_ROWS : i % across) * elements;
        const INDEX_T at = result_of(m_first + row, phase);
        if (at >= 0 && n_first + channel < D_DST_C)
            *(global UNIT_T *)(to + at + DST_CHANNEL(group * D_DST_C + n_first + channel)) =
                *(local const UNIT_T *)(tile + row * BITS_PITCH + channel);
    }
#else
    const int rows = min(ALL_ITEMS, T_ROWS), down = max(ALL_ITEMS / T_ROWS, 1);
    for (int row = item % rows; row < T_ROWS; row += rows) {
        const INDEX_T at = result_of(m_first + row, phase);
        for (int c = item / rows; c < T_COLUMNS; c += down)
            if (at >= 0 && n_first + c < D_DST_C)
                to[at + DST_CHANNEL(group * D_DST_C + n_first + c)] =
                    tile[row * BITS_PITCH + c];
    }
#endif
}
#endif
