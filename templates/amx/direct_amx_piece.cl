/* direct_amx_piece.cl: fills the piece of an item of direct_amx.cl, which has the defines. */
#include "amx_tiles.cl"

/* Copies `take` of AMX_ELEMENTS neighbours, and zeros up to `give` elements. */
#define ALL_ELEMENTS(n) ((n) == AMX_ELEMENTS ? ~(MASK_T)0 : ((MASK_T)1 << (n)) - 1)
#if SRC_TYPE == TYPE_I8
#define MASK_T ulong
typedef char elements __attribute__((__vector_size__(64)));
#define LOAD_ELEMENTS __builtin_ia32_loaddquqi512_mask
#define STORE_ELEMENTS __builtin_ia32_storedquqi512_mask
#else
#define MASK_T uint
typedef short elements __attribute__((__vector_size__(64)));
#define LOAD_ELEMENTS __builtin_ia32_loaddquhi512_mask
#define STORE_ELEMENTS __builtin_ia32_storedquhi512_mask
#endif
INLINE void copy_elements(local SRC_T *to, global const SRC_T *from, const int take,
                          const int give)
{
    const elements v =
        LOAD_ELEMENTS((const elements *)(size_t)from, __builtin_astype((int16)(0), elements),
                      ALL_ELEMENTS(take));
    STORE_ELEMENTS((elements *)(size_t)to, v, ALL_ELEMENTS(give));
}

/* Elements that are copied at once, from channel 0 of a pixel to channel c, and of a pixel's
 * piece. */
#if D_SRC_BLOCKS == 1
#define MOST_AT_ONCE AMX_ELEMENTS
#define SRC_AT(c) (c)
#else
#define MOST_AT_ONCE 16
#define SRC_AT(c) ((INDEX_T)((c) / D_SRC_NEIGHBOURS) * D_SRC_BLOCK + (c) % D_SRC_NEIGHBOURS)
#endif
/* Channels of a pixel of a piece, for one pixel of the source. */
#define PIXEL_C (D_PIXEL / D_FOLD)
#define AT_ONCE (PIXEL_C < MOST_AT_ONCE ? PIXEL_C : MOST_AT_ONCE)
#define PIECE_AT(c) ((c) / PIXEL_C * (D_PLANE * D_PIXEL) + (c) % PIXEL_C)
#define PIECE_C (D_DEPTH_BLOCKS * PIXEL_C)
/* Pixels of the source from one of the piece to the next. */
#define APART(a) (P_STRIDE_##a / D_PHASES_##a)

/* Copies the channels of a pixel to all blocks of a piece. */
INLINE void copy_pixel(local SRC_T *to, global const SRC_T *from)
{
#if D_SRC_C <= 4 /* a store of a whole register that crosses a line takes longer */
    UNROLL
    for (int c = 0; c < PIXEL_C; c++)
        to[c] = c < D_SRC_C ? from[SRC_AT(c)] : (SRC_T)0;
#else
    const int last = D_SRC_C / AT_ONCE * AT_ONCE;
    for (int c = 0; c < last; c += AT_ONCE)
        copy_elements(to + PIECE_AT(c), from + SRC_AT(c), AT_ONCE, AT_ONCE);
    for (int c = last; c < PIECE_C; c += AT_ONCE)
        copy_elements(to + PIECE_AT(c), from + SRC_AT(c), c == last ? D_SRC_C - last : 0,
                      min(AT_ONCE, PIECE_C - c));
#endif
}

/* Copies the channels of a pixel, four with their zeros, as one word, which at the source
 * ends in the next pixel. */
#if SRC_TYPE == TYPE_I8
#define WORD_T uint
#else
#define WORD_T ulong
#endif
typedef struct __attribute__((packed)) word {
    WORD_T bits;
} word;
INLINE void copy_word(local SRC_T *to, global const SRC_T *from)
{
    const WORD_T mask = ((WORD_T)1 << D_SRC_C % 4 * (8 * sizeof(SRC_T))) - 1;
    ((local word *)to)->bits = ((global const word *)from)->bits & mask;
}

/* Copies pixels of a row. */
INLINE void copy_pixels(local SRC_T *to, global const SRC_T *from, const int count)
{
#if D_SRC_BLOCKS == 1 && D_PIXEL == D_SRC_PIXEL && P_STRIDE_W == D_PHASES_W && D_FOLD == 1
    const int all = count * D_PIXEL;
    for (int i = 0; i < all; i += AMX_ELEMENTS)
        copy_elements(to + i, from + i, min(all - i, AMX_ELEMENTS), min(all - i, AMX_ELEMENTS));
#else
    int i = 0;
#if D_SRC_C < 4 && PIXEL_C == 4 && D_SRC_BLOCKS == 1
    for (; i < count - 1; i++) /* behind the last one there may be no memory */
        copy_word(to + i * D_PIXEL, from + (INDEX_T)i * (APART(W) * D_SRC_PIXEL));
#endif
    for (; i < count; i++)
        copy_pixel(to + i * D_PIXEL, from + (INDEX_T)i * (APART(W) * D_SRC_PIXEL));
#endif
}

INLINE void clear_pixels(local SRC_T *to, const int count)
{
    for (int b = 0; b < D_DEPTH_BLOCKS; b++)
        for (int i = 0; i < count * D_PIXEL; i++)
            to[b * (D_PLANE * D_PIXEL) + i] = 0;
}

/* Pixels of a piece that `n` positions of an axis, and so many taps, read. */
#define SPAN(n, a, taps) (((n)-1) * D_PHASES_##a + ((taps)-1) * P_DILATION_##a + 1)

/* Fills the piece of a filter plane, whose source plane is at src, or which is padding. */
INLINE void fill_plane(local SRC_T *piece, global const SRC_T *src, const bool inside,
                       const int row0, const int col0, const int rows, const int cols)
{
    const int x0 = col0 * P_STRIDE_W - D_LEAD_W, width = SPAN(cols, W, P_FILTER_W);
    const int low = clamp((APART(W) - 1 - x0) / APART(W), 0, width);
    const int high = clamp((P_SRC_W - 1 - x0 + APART(W)) / APART(W), low, width);
    for (int i = 0; i < SPAN(rows, H, D_FILTER_ROWS); i++) {
        local SRC_T *const to =
            piece + (i % D_PHASES_H * D_PHASE_ROWS + i / D_PHASES_H) * (D_PITCH * D_PIXEL);
        const int y = row0 * P_STRIDE_H - D_LEAD_H + i * APART(H);
        const bool whole = inside && y >= 0 && y + D_FOLD <= P_SRC_H;
        clear_pixels(to, whole ? low : width);
        for (int f = 0; f < D_FOLD; f++)
            if (inside && y + f >= 0 && y + f < P_SRC_H)
                copy_pixels(to + low * D_PIXEL + f * PIXEL_C,
                            src + (INDEX_T)(y + f) * D_SRC_ROW +
                                (INDEX_T)(x0 + low * APART(W)) * D_SRC_PIXEL,
                            high - low);
        if (whole)
            clear_pixels(to + high * D_PIXEL, width - high);
    }
}
