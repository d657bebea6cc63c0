/* direct_blocked_results.cl: how direct_blocked.cl stores its sums: vectors of channels, or, with
 * D_PLAIN, rows of pixels, after sums have been transposed.
 */
#include "channels.cl"
#include "direct_blocked_elements.cl"
#include "rows.cl"
#include "transpose.cl"

#if D_PLAIN == 0
/* Lanes that lie together and are stored at once. */
#if D_PIECE == D_B
#define PART 4
#else
#define PART D_PIECE
#endif
#if PART > 1
#define LOAD_PART(to, p, i) KILN_CAT(vstore, PART)(DST_LOADN(PART, p, i), 0, to)
#define STORE_PART(p, i, from) DST_STOREN(PART, p, i, KILN_CAT(vload, PART)(0, from))
#else
#define LOAD_PART(to, p, i) (*(to) = DST_LOAD(p, i))
#define STORE_PART(p, i, from) DST_STORE(p, i, *(from))
#endif
/* How many lanes from lane p on to store; the last few channels are stored one by one. */
#define TOGETHER(p, end) ((p) + PART <= (end) ? PART : 1)

/* Stores the first `lanes` of the D_B channels from `channel` on, of the tile's pixels but for the
 * first `skip` of them; pixel 0 is at element `at`. Parts are copied from memory: if they were
 * parts of registers the compiler would keep sums in the registers with names for their parts, and
 * spill the rest. */
INLINE void put_parts(global DST_T *dst, const ACC_V *acc, const int channel, const int lanes,
                      const int skip, const INDEX_T at EPILOGUE_PARAMS)
{
    VAL_T lane[T_W * D_B] __attribute__((aligned(64)));
    private VAL_V *all = (private VAL_V *)lane;
    const int end = min(lanes, D_B);
#ifdef P_BETA
#pragma unroll
    for (int i = 0; i < T_W; i++)
        all[i] = (VAL_V)((VAL_T)0);
#pragma nounroll
    for (int p = 0; p < end; p += TOGETHER(p, end)) {
        global const DST_T *part = residual + at + DST_AT(channel + p);
        for (int i = skip; i < T_W; i++)
            if (TOGETHER(p, end) == PART)
                LOAD_PART(lane + i * D_B + p, part, i * D_UP_W * D_DST_PIXEL);
            else
                lane[i * D_B + p] = DST_LOAD(part, i * D_UP_W * D_DST_PIXEL);
    }
    EACH_RESULT
    for (int i = 0; i < T_W; i++)
        all[i] = FINISH_V(acc[i * T_KV], all[i], channel);
#else
    EACH_RESULT
    for (int i = 0; i < T_W; i++)
        all[i] = FINISH_V(acc[i * T_KV], (VAL_V)((VAL_T)0), channel);
#endif
#pragma nounroll
    for (int p = 0; p < end; p += TOGETHER(p, end)) {
        global DST_T *part = dst + at + DST_AT(channel + p);
        for (int i = skip; i < T_W; i++)
            if (TOGETHER(p, end) == PART)
                STORE_PART(part, i * D_UP_W * D_DST_PIXEL, lane + i * D_B + p);
            else
                DST_STORE(part, i * D_UP_W * D_DST_PIXEL, lane[i * D_B + p]);
    }
}

#ifdef P_BETA
#define RESIDUAL_FROM(at) , residual + (at)
#else
#define RESIDUAL_FROM(at)
#endif

/* Stores D_B channels of the pixel `further` elements behind element `at`: whole vectors next to
 * one another are stored at constant distances from one address. */
INLINE void put(global DST_T *dst, const ACC_V acc, const int channel, const INDEX_T at,
                const int further EPILOGUE_PARAMS)
{
    const INDEX_T whole = at + DST_AT(channel);
    kiln_put(dst + whole, acc, channel, further KILN_BIAS_PASS RESIDUAL_FROM(whole));
}
#endif

#if D_PLAIN
/* Pixels by which the last tile of a row starts earlier. */
#define D_SHIFT (D_TILES_W * T_W - P_DST_W)

/* Lanes `first` to `end` of a vector are pixels of a row, lane 0 at element `at`. */
#ifdef P_BETA
INLINE VAL_V get_row(global const DST_T *row, const int first, const int end, const INDEX_T at)
{
    VAL_T lane[D_B] __attribute__((aligned(64)));
    *(private VAL_V *)lane = (VAL_V)((VAL_T)0);
#pragma unroll
    for (int i = 0; i < D_B; i++)
        if (i >= first && i < end)
            lane[i] = DST_LOAD(row, at + (INDEX_T)i * D_UP_W);
    return *(private const VAL_V *)lane;
}
#endif

#if D_UP_W > 1
INLINE void put_row(global DST_T *row, const VAL_V v, const int first, const int end,
                    const INDEX_T at)
{
    VAL_T lane[D_B] __attribute__((aligned(64)));
    *(private VAL_V *)lane = v;
#pragma nounroll
    for (int i = first; i < end; i++)
        DST_STORE(row, at + (INDEX_T)i * D_UP_W, lane[i]);
}
#else
/* `first` is 0. */
INLINE void put_row(global DST_T *row, const VAL_V v, const int first, const int end,
                    const INDEX_T at)
{
    STORE_SOME(row, v, end, at);
}
#endif

KILN_DEFINE_TRANSPOSE(transpose, ACC_V)

/* Stores a vector of channels, of which `lanes` are there, of the tile's pixels from `first` on,
 * but for the first `skip` of them; pixel 0 of channel 0 is element `at`. */
INLINE void put_rows(global DST_T *dst, const ACC_V *acc, const int channel, const int lanes,
                     const int first, const int skip, const INDEX_T at EPILOGUE_PARAMS)
{
#pragma unroll
    for (int i0 = first; i0 < T_W; i0 += D_B) {
        const int begin = skip > i0 ? skip - i0 : 0, end = i0 + D_B < T_W ? D_B : T_W - i0;
        ACC_V t[D_B];
#pragma unroll
        for (int i = 0; i < D_B; i++)
            t[i] = i < end ? acc[(i0 + i) * T_KV] : (ACC_V)((ACC_T)0);
        transpose(t);
        EACH_RESULT
        for (int c = 0; c < D_B; c++) {
            if (!D_WHOLE && c >= lanes)
                continue;
            const INDEX_T to =
                at + (INDEX_T)(channel + c) * D_DST_CHANNEL + (INDEX_T)i0 * D_UP_W;
#ifdef P_BETA
            const VAL_V old = get_row(residual, begin, end, to);
#else
            const VAL_V old = (VAL_V)((VAL_T)0);
#endif
            put_row(dst, FINISH_ROW(t[c], old, channel + c), begin, end, to);
        }
    }
}
#endif
