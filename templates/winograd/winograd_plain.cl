/* winograd_plain.cl: how winograd.cl reads plain sources and writes plain destinations, by
 * transposing squares of D_B channels by D_B columns.
 */
#include "caches.cl"
#include "rows.cl"
#include "transpose.cl"
#include "vectors.cl"

/* The compiler takes as long for the transposition as for all the rest, so the program has one copy
 * of it. (PoCL 3.1 crashes if this copy works on local memory.) */
KILN_DEFINE_DEALT(static __attribute__((noinline)), transpose, ACC_V)

#if !D_SRC_TOGETHER
/* Element (y, x) of the patches of a run, in a row of v: its index, even if the element is outside
 * of the image. */
typedef struct place {
    INDEX_T at;
    int y, x;
} place;

INLINE place place_of(const run r, const int group, const int row, const int y, const int x)
{
    const INDEX_T image = (INDEX_T)r.n * P_GROUPS + group;
    place p;
    p.y = (r.y * D_MH + y) * D_STEP_H + PHASE_OF(row) / D_PHASES_W + r.y1 - D_LEAD_H;
    p.x = (r.x * D_MW + x) * D_STEP_W + PHASE_OF(row) % D_PHASES_W + r.x1 - D_LEAD_W;
    p.at = (image * D_SRC_C + CHANNEL_OF(row)) * D_SRC_PLANE + (INDEX_T)p.y * P_SRC_W + p.x;
    return p;
}

/* D_B columns, D_STEP_W apart, of the image row at p; zero outside of the image. */
INLINE ACC_V load_row(global const SRC_T *src, const place p)
{
    ACC_V v;
    if (D_STEP_W <= 2 && p.at >= 0 && p.at + D_B * D_STEP_W <= D_SRC_COUNT) {
#if D_STEP_W == 1
        v = SRC_LOAD_V(src, p.at);
#else
        const ACC_V a = SRC_LOAD_V(src, p.at), b = SRC_LOAD_V(src, p.at + D_B);
        v = (ACC_V)(a.even, b.even);
#endif
    } else {
        ACC_T lane[D_B];
#pragma nounroll
        for (int i = 0; i < D_B; i++) {
            const INDEX_T at = p.at + i * D_STEP_W;
            lane[i] = at >= 0 && at < D_SRC_COUNT ? SRC_LOAD(src, at) : 0;
        }
        v = KILN_CAT(vload, D_B)(0, lane);
    }
    if (p.x >= 0 && p.x + (D_B - 1) * D_STEP_W < P_SRC_W)
        return v;
    const KILN_CAT(int, D_B) x = p.x + LANES(D_B) * D_STEP_W;
    return select((ACC_V)(0), v, x >= 0 && x < P_SRC_W);
}

/* Makes all pixels of the strip: block b of v's rows. */
INLINE void load_rows(local ACC_V *strip, global const SRC_T *src, const run r, const int group,
                      const int b, const int columns, const run next, const int soon)
{
    ACC_V square[D_B];
#pragma nounroll
    for (int y = 0; y < D_TH; y++)
#pragma nounroll
        for (int i = 0; i < columns; i += D_B) {
            /* The last D_B columns start earlier instead of being fewer, if there are so many. */
            const int x = max(min(i, columns - D_B), 0);
#pragma nounroll
            for (int c = 0; c < D_B; c++) {
                const int row = b * D_B + c;
                const place p = place_of(r, group, row, y, x);
                const bool there = row < D_SRC_ROWS && p.y >= 0 && p.y < P_SRC_H;
                square[c] = there ? load_row(src, p) : (ACC_V)(0);
#if D_SOURCE_AHEAD
                KILN_FETCH(src + place_of(next, group, soon * D_B + c, y, x).at);
#endif
            }
            transpose(square);
#pragma unroll
            for (int j = 0; j < D_B; j++)
                strip[y * D_COLUMNS + x + j] = square[j];
        }
}

INLINE void fill_strip(local ACC_V *strip, global const SRC_T *src, const run r, const int group,
                       const int b, const run next, const int soon)
{
    const int all = columns_of(r);
    load_rows(strip, src, r, group, b, all, next, soon);
    make_columns(strip, src, 0, 0, 0, all, true);
}
#endif

#if !D_DST_TOGETHER
/* The first `columns` of D_B elements of one channel, P_DILATION_W apart. */
INLINE void store_row(global DST_T *dst, const INDEX_T at, const ACC_V value, const int columns,
                      const int channel EPILOGUE_PARAMS)
{
#if P_DILATION_W == 1
    STORE_SOME(dst, FINISH_ROW(value, OLD_SOME(columns, at), channel), columns, at);
#else
    VAL_T lane[D_B] __attribute__((aligned(64)));
    private ROW_T *all = (private ROW_T *)lane;
    *all = (ROW_T)((VAL_T)0);
#ifdef P_BETA
#pragma nounroll
    for (int i = 0; i < columns; i++)
        lane[i] = DST_LOAD(residual, at + i * P_DILATION_W);
#endif
    *all = FINISH_ROW(value, *all, channel);
#pragma nounroll
    for (int i = 0; i < columns; i++)
        DST_STORE(dst, at + i * P_DILATION_W, lane[i]);
#endif
}

INLINE void store_run(global DST_T *dst, local ACC_V *strip, KEPT const KEPT_SUM_V *p, const run r,
                      const int group, const int block EPILOGUE_PARAMS)
{
#pragma nounroll
    for (int t = 0; t < r.tiles; t++) {
        ACC_V o[D_MH][D_MW];
        tile_of(o, p + r.first + t);
#pragma unroll
        for (int i = 0; i < D_MH; i++)
#pragma unroll
            for (int j = 0; j < D_MW; j++)
                strip[i * D_COLUMNS + t * D_MW + j] = o[i][j];
    }
    const int y0 = r.y * D_MH, x0 = r.x * D_MW;
    const int columns = (P_DST_W - r.x1 + P_DILATION_W - 1) / P_DILATION_W;
    const int all = min(r.tiles * D_MW, columns - x0);
    const int channel = group * D_DST_C + block * D_B, channels = min(D_B, D_DST_C - block * D_B);
    const INDEX_T image = ((INDEX_T)r.n * (P_GROUPS * D_DST_C) + channel) * D_DST_PLANE;
    ACC_V square[D_B]; /* columns behind the last one are not stored */
#pragma nounroll
    for (int i = 0; i < D_MH && (y0 + i) * P_DILATION_H + r.y1 < P_DST_H; i++)
#pragma nounroll
        for (int j = 0; j < all; j += D_B) {
#ifdef P_BETA
            const int at = j; /* a residual that is the destination is added once */
#else
            /* The last D_B columns start earlier instead of being fewer, if there are so many. */
            const int at = all >= D_B ? min(j, all - D_B) : j;
#endif
            const INDEX_T y = (y0 + i) * P_DILATION_H + r.y1, x = (x0 + at) * P_DILATION_W + r.x1;
            const INDEX_T row = image + y * P_DST_W + x;
#pragma unroll
            for (int l = 0; l < D_B; l++)
                square[l] = strip[i * D_COLUMNS + at + l];
            transpose(square);
#pragma nounroll
            for (int k = 0; k < channels; k++)
                store_row(dst, row + k * D_DST_PLANE, square[k], min(D_B, all - at),
                          channel + k EPILOGUE_PASS);
        }
}
#endif
