/* pixel_tile.cl: a tile of registers whose vectors are pixels, over a piece of the source
 * (piece.cl).
 *
 *                    T_PIX vectors           a tap and source channel:
 *     T_K        [ acc ][ acc ][ acc ]       T_PIX vectors of the piece, one after the other,
 *     channels   [ acc ][ acc ][ acc ]       by T_K weights, each for all lanes
 *
 *   add_pixels(acc, at, w)   adds one tap of one channel, with T_K weights at w: the tile's first
 *                            element reads `at`. With D_TOGETHER = 2, of a pair of channels
 *   merge_pieces(pieces, channels, planes, size)
 *                            makes pairs of the pieces of neighbouring channels, each of which has
 *                            `planes` pieces of `size` vectors: pair i takes the place of channel
 *                            i. What the last one lacks is zero
 *
 * Defines, besides those of the files included (PIECE_SPACE, T_VEC and D_B=T_VEC among them):
 *   T_PIX T_K   above
 */
#include "piece.cl"
#include "products.cl"

INLINE void add_pixels(PIECE_V *acc, PIECE_SPACE const ACC_T *at, global const ACC_T *w)
{
    PIECE_V v[T_PIX];
#pragma unroll
    for (int i = 0; i < T_PIX; i++)
        v[i] = *(PIECE_SPACE const kiln_loose_piece *)(at + i * T_VEC);
#pragma unroll
    for (int k = 0; k < T_K; k++) {
        const PIECE_V a = (PIECE_V)(w[k]);
#pragma unroll
        for (int i = 0; i < T_PIX; i++)
            ADD_PRODUCT(acc[k * T_PIX + i], v[i], a);
    }
}

#if D_TOGETHER == 2
INLINE void merge_pieces(PIECE_SPACE PIECE_V *pieces, const int channels, const int planes,
                         const int size)
{
    const int apart = planes * size;
    for (int c = 0; c < channels; c += 2)
        for (int i = 0; i < apart; i++) {
            PIECE_SPACE const PIECE_V *const low = pieces + c * apart + i;
            const PIECE_V high = c + 1 < channels ? low[apart] : (PIECE_V)(0);
            pieces[c / 2 * apart + i] = PAIR(*low, high);
        }
}
#endif
