/* lines.cl: where taps read and results go in lines, in which each tap is one fixed offset (see
 * direct_lines.cl).
 *
 *   OFFSET(r, a), SLOT(r, a)
 *                         the position, counted from the destination's, and the slot that tap r
 *                         reads along axis a
 *   FIRST(p, a), NEXT(a)  the first tap that reaches phase p of the destination, or the filter's
 *                         size if there is none, and the distance to the next such tap
 *   D_PHASES_a            phases of the destination (position modulo stride)
 *   PLACE(t, p, a)        destination coordinate of grid position t in phase p
 *   D_DENSE               1: neighbours on a line are neighbours in the destination
 *
 * Defines; _a stands for each of _D, _H, _W:
 *   D_BACKWARD            1: backward data, whose source is dy and whose offsets run backwards
 *   P_FILTER_a, P_STRIDE_a, P_DILATION_a, P_PAD_a
 *   D_REACH_a             largest offset of a tap
 *   D_PERIOD_a            after how many taps slots, or phases, repeat
 */
#if D_BACKWARD
#define OFFSET(r, a) (D_REACH_##a - (r) * P_DILATION_##a / P_STRIDE_##a)
#define SLOT(r, a) 0
#define FIRST(p, a) first_tap(p, P_FILTER_##a, P_STRIDE_##a, P_DILATION_##a, D_PERIOD_##a)
#define NEXT(a) D_PERIOD_##a
#define PLACE(t, p, a) (((t) + P_PAD_##a / P_STRIDE_##a) * P_STRIDE_##a + (p) - P_PAD_##a)
#define D_PHASES_D P_STRIDE_D
#define D_PHASES_H P_STRIDE_H
#define D_PHASES_W P_STRIDE_W
#else
#define OFFSET(r, a) ((r) * P_DILATION_##a / P_STRIDE_##a)
#define SLOT(r, a) ((r) % D_PERIOD_##a)
#define FIRST(p, a) 0
#define NEXT(a) 1
#define PLACE(t, p, a) (t)
#define D_PHASES_D 1
#define D_PHASES_H 1
#define D_PHASES_W 1
#endif
#define D_DENSE (!D_BACKWARD || P_STRIDE_W == 1)

static inline int first_tap(int p, int taps, int stride, int dilation, int period)
{
    for (int r = 0; r < min(taps, period); r++)
        if (r * dilation % stride == p)
            return r;
    return taps;
}
