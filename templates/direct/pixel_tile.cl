/* pixel_tile.cl: a tile of registers whose vectors are pixels, over a piece of the source
 * (piece.cl).
 *
 *                    T_PIX vectors           a tap and source channel:
 *     T_K        [ acc ][ acc ][ acc ]       T_PIX vectors of the piece, one after the other,
 *     channels   [ acc ][ acc ][ acc ]       by T_K weights, each for all lanes
 *
 *   add_pixels(acc, at, w)   adds one tap of one channel, with T_K weights at w: the tile's first element
 *                            reads `at`
 *
 * Defines, besides those of the files included (PIECE_SPACE and T_VEC among them):
 *   T_PIX T_K   above
 */
#include "piece.cl"

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
            acc[k * T_PIX + i] += a * v[i];
    }
}
