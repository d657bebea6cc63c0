/* piece.cl: copies a piece of a plain source into memory of an item's own, with zeros for the
 * border, so that each tap reads whole vectors at one fixed offset (see direct_lines.cl for the
 * idea). With a stride, rows and columns are sorted into slots by remainder:
 *
 *                                        slot 0, 3x3:   0 x x x x x
 *     rows of the       x x x x x                       0 x x x x x     D_ROWS rows of D_PITCH
 *     source            x x x x x                       0 x x x x x     positions, then those of
 *                                                       0 x x x x x     slot 1
 *
 *   fill(src, plane, to, row0, col0)
 *                         fills D_SECTION elements with the line positions of a plane of `src` from
 *                         (row0, col0) on. Overwrites up to T_VEC - 1 elements behind them: fill
 *                         the piece there later
 *   PIECE_OFFSET(r, s)    the element of a piece that tap (r, s) of the piece's first destination
 *                         reads
 *   BORDER_ROW            a row0 from which all rows of a piece are border
 *   ELEMENT(v, slot, a)   the source's element at position v along axis a
 *   source_depth(z, q)    the source's depth that tap q of destination depth z reads; -1: none
 *
 * Defines, besides those of the files included; _a stands for each of _D, _H, _W:
 *   P_SRC_a               sizes of the source
 *   D_STEP_a, D_LEAD_a, D_SLOTS_a   as in direct_lines.cl
 *   T_VEC                 lanes of a vector; 1: there is no fill()
 *   D_ROWS, D_PITCH       above
 *   D_SRC_COUNT           elements of the source
 *   PIECE_SPACE           the address space of the piece
 */
#include "lines.cl"
#include "types.cl"

#define D_SECTION (D_SLOTS_H * D_SLOTS_W * D_ROWS * D_PITCH)
#define PIECE_OFFSET(r, s)                                                                         \
    (((SLOT(r, H) * D_SLOTS_W + SLOT(s, W)) * D_ROWS + OFFSET(r, H)) * D_PITCH + OFFSET(s, W))
#define BORDER_ROW (P_SRC_H + D_LEAD_H)

#define ELEMENT(v, slot, a)                                                                        \
    ((v) * D_STEP_##a + (slot) * P_DILATION_##a % P_STRIDE_##a - D_LEAD_##a)

static inline int source_depth(int z, int q)
{
#if D_BACKWARD
    int u = z + P_PAD_D - q * P_DILATION_D;
    return u >= 0 && u % P_STRIDE_D == 0 && u / P_STRIDE_D < P_SRC_D ? u / P_STRIDE_D : -1;
#else
    int u = z * P_STRIDE_D + q * P_DILATION_D - P_PAD_D;
    return u >= 0 && u < P_SRC_D ? u : -1;
#endif
}

#if T_VEC > 1
#define PIECE_V KILN_CAT(ACC_T, T_VEC)
typedef KILN_LOOSE(ACC_T, T_VEC) kiln_loose_piece;
#if SRC_TYPE == TYPE_F32
#define PIECE_LOAD(p, i) (*(global const kiln_loose_piece *)((p) + (i)))
#else
#define PIECE_LOAD(p, i) SRC_LOADN(T_VEC, p, i)
#endif

/* T_VEC positions of a row from v on. Positions `low` to `high` - 1 of the row are elements, the
 * others border; position v is, or would be, element `at`. */
static inline PIECE_V positions(global const SRC_T *src, const INDEX_T at, const int v,
                                const int low, const int high)
{
#if D_STEP_W <= 2
    /* Elements before or behind the row are read and dropped if they are part of the tensor. */
    if (at >= 0 && at <= D_SRC_COUNT - D_STEP_W * T_VEC) {
#if D_STEP_W == 1
        const PIECE_V all = PIECE_LOAD(src, at);
#else
        const PIECE_V first = PIECE_LOAD(src, at), second = PIECE_LOAD(src, at + T_VEC);
        const PIECE_V all = KILN_SHUFFLE(T_VEC, first, second, EVENS(T_VEC));
#endif
        const KILN_CAT(int, T_VEC) lane = v + LANES(T_VEC);
        return (lane >= low && lane < high) ? all : (PIECE_V)(0);
    }
#endif
    ACC_T some[T_VEC];
    for (int l = 0; l < T_VEC; l++)
        some[l] = v + l >= low && v + l < high ? SRC_LOAD(src, at + l * D_STEP_W) : 0;
    return KILN_CAT(vload, T_VEC)(0, some);
}

/* The rows of a slot. The first row begins at row h0, column w0 of the source, be they outside of
 * it. Of the D_PITCH positions of a row, `low` to `end` - 1 are inside the source. */
typedef struct piece_slot {
    int h0, w0, low, end;
} piece_slot;

INLINE piece_slot slot_at(const int slot, const int row0, const int col0)
{
    const int w0 = ELEMENT(col0, slot % D_SLOTS_W, W);
    piece_slot p;
    p.h0 = ELEMENT(row0, slot / D_SLOTS_W, H);
    p.w0 = w0;
    p.low = max((D_STEP_W - 1 - w0) / D_STEP_W, 0);
    p.end = w0 >= P_SRC_W ? 0 : min((P_SRC_W - 1 - w0) / D_STEP_W + 1, D_PITCH);
    return p;
}

/* `end` of row h of the source; 0 where there is none. */
INLINE int end_of_row(const piece_slot p, const int h)
{
    return h < 0 || h >= P_SRC_H ? 0 : p.end;
}

static void fill(global const SRC_T *src, const INDEX_T plane, PIECE_SPACE ACC_T *to, int row0,
                 int col0)
{
    for (int slot = 0; slot < D_SLOTS_H * D_SLOTS_W; slot++) {
        const piece_slot p = slot_at(slot, row0, col0);
        for (int row = 0; row < D_ROWS; row++, to += D_PITCH) {
            const int h = p.h0 + row * D_STEP_H, high = end_of_row(p, h);
            const INDEX_T at = plane + (INDEX_T)h * P_SRC_W + p.w0;
            for (int v = 0; v < D_PITCH; v += T_VEC)
                *(PIECE_SPACE kiln_loose_piece *)(to + v) =
                    high ? positions(src, at + v * D_STEP_W, v, p.low, high) : (PIECE_V)(0);
        }
    }
}
#endif
