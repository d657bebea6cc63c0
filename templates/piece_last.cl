/* piece_last.cl: copies pieces as piece.cl does, from a source whose channels are last, and so
 * neighbours (NHWC): transposes squares of T_VEC pixels by T_VEC channels on the way.
 *
 *      source                    pieces
 *      pixel 0   c c c c         channel 0   p p p p
 *      pixel 1   c c c c    ->   channel 1   p p p p
 *
 *   fill_channels(src, plane, to, apart, channels, row0, col0)
 *                         fills pieces of `channels` channels of a plane as fill() does, `apart`
 *                         elements apart; a piece ends T_VEC - 1 elements before the next one
 *
 * Defines, besides those of the files included (D_B=T_VEC among them):
 *   D_SRC_LAST            1: channels are last in the source; else this file is empty
 *   D_SRC_PIXEL           elements from one pixel to the next: all channels
 */
#include "piece.cl"
#include "transpose.cl"

#if D_SRC_LAST
KILN_DEFINE_TRANSPOSE(turn_piece, PIECE_V)

/* T_VEC channels of a pixel from element `at` on, of which the first `left` are used. */
INLINE PIECE_V channels_of(global const SRC_T *src, const INDEX_T at, const int left)
{
    /* Elements behind them are read and dropped if they are part of the tensor. */
    if (at <= D_SRC_COUNT - T_VEC)
        return PIECE_LOAD(src, at);
    ACC_T some[T_VEC];
    for (int l = 0; l < T_VEC; l++)
        some[l] = l < left ? SRC_LOAD(src, at + l) : 0;
    return KILN_CAT(vload, T_VEC)(0, some);
}

/* T_VEC positions, the first of them v, of T_VEC channels, or as many as there are. */
INLINE void fill_square(global const SRC_T *src, const INDEX_T at, PIECE_SPACE ACC_T *to,
                        const int apart, const int left, const int v, const int low, const int high)
{
    PIECE_V square[T_VEC];
    UNROLL for (int l = 0; l < T_VEC; l++)
        square[l] = v + l >= low && v + l < high
                        ? channels_of(src, at + (INDEX_T)l * (D_STEP_W * D_SRC_PIXEL), left)
                        : (PIECE_V)(0);
    turn_piece(square);
    UNROLL for (int l = 0; l < T_VEC; l++)
        if (l < left)
            *(PIECE_SPACE kiln_loose_piece *)(to + l * apart) = square[l];
}

static void fill_channels(global const SRC_T *src, const INDEX_T plane, PIECE_SPACE ACC_T *to,
                          const int apart, const int channels, const int row0, const int col0)
{
    for (int slot = 0; slot < D_SLOTS_H * D_SLOTS_W; slot++) {
        const piece_slot p = slot_at(slot, row0, col0);
        for (int row = 0; row < D_ROWS; row++, to += D_PITCH) {
            const int h = p.h0 + row * D_STEP_H, high = end_of_row(p, h);
            const INDEX_T at = plane + ((INDEX_T)h * P_SRC_W + p.w0) * D_SRC_PIXEL;
            for (int v = 0; v < D_PITCH; v += T_VEC)
                for (int c = 0; c < channels; c += T_VEC)
                    fill_square(src, at + (INDEX_T)v * (D_STEP_W * D_SRC_PIXEL) + c,
                                to + c * apart + v, apart, channels - c, v, p.low, high);
        }
    }
}
#endif
