/* depthwise_source.cl: how depthwise.cl and depthwise_plain_weights.cl read a plain source.
 *
 * An item works on T_ROWS rows of T_PIX vectors of T_VEC columns of a plane. First it copies the
 * piece of the source that it needs into a small buffer (see piece.cl), where each tap reads whole
 * vectors at one fixed offset:
 *
 *          T_PIX * T_VEC            buffer, 3x3:   0 x x x x x
 *     T_ROWS  y y y y                              0 x x x x x     T_ROWS + D_REACH_H rows of
 *             y y y y                              0 x x x x x     T_PIX * T_VEC + D_REACH_W
 *                                                  0 x x x x x
 *
 * With T_VEC=1 there is no buffer: every element is read in place, behind a guard. This suits a
 * GPU, where neighbouring items have neighbouring columns.
 *
 *   ACC_V, LOADV(p), STOREV(v, p)   T_VEC sums; the last two not with T_VEC=1
 *   D_BUFFER(n)           elements of a buffer of `n` pieces
 *   READ(section, slot_h, row, slot_w, v)   one vector, of the array `buffer` or, for T_VEC=1, of
 *                         plane[section] of `src` from row0 and col0 on
 *
 * Defines, besides those of the files included; _a stands for each of _D, _H, _W:
 *   P_GROUPS, D_MULTIPLE  input channels, and output channels of each
 *   P_N                   images
 *   P_DST_a, D_GRID_a     sizes of the destination, of which the grid has some in a phase
 *   T_VEC T_PIX T_ROWS    above; T_PIX=1 with T_VEC=1
 */
/* Sources of one destination: dy of every output channel of the group, or the one x. */
#define D_SOURCES (D_BACKWARD ? D_MULTIPLE : 1)

#define D_ROWS (T_ROWS + D_REACH_H)
#define D_PITCH (T_PIX * T_VEC + D_REACH_W)
#define PIECE_SPACE private
#define D_SRC_COUNT ((INDEX_T)P_N * P_GROUPS * D_SOURCES * P_SRC_D * P_SRC_H * P_SRC_W)
#include "piece.cl"

#define D_BUFFER(n) ((n) * D_SECTION + T_VEC) /* fill() writes behind the last one */
#define D_SRC_PLANE ((INDEX_T)P_SRC_H * P_SRC_W)
#define D_DST_PLANE ((INDEX_T)P_DST_H * P_DST_W)
#define D_TAPS (P_FILTER_H * P_FILTER_W)

#if T_VEC == 1
#define ACC_V ACC_T
#else
#define ACC_V KILN_CAT(ACC_T, T_VEC)
#define LOADV(p) KILN_CAT(vload, T_VEC)(0, p)
#define STOREV(v, p) KILN_CAT(vstore, T_VEC)(v, 0, p)
#endif

#if T_VEC > 1
#define READ(section, slot_h, row, slot_w, v)                                                      \
    LOADV(buffer + (section) * D_SECTION +                                                         \
          (((slot_h) * D_SLOTS_W + (slot_w)) * D_ROWS + (row)) * D_PITCH + (v))
#else
static inline ACC_T read_guarded(global const SRC_T *src, int h, int w)
{
    return h >= 0 && h < P_SRC_H && w >= 0 && w < P_SRC_W ? SRC_LOAD(src, (INDEX_T)h * P_SRC_W + w)
                                                          : 0;
}
#define READ(section, slot_h, row, slot_w, v)                                                      \
    read_guarded(src + plane[section] * D_SRC_PLANE, ELEMENT(row0 + (row), slot_h, H),             \
                 ELEMENT(col0 + (v), slot_w, W))
#endif
