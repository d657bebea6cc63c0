/* gemm_places.cl: where the pixels of gemm.cl lie in the source and in the destination, and which
 * taps each phase of backward data has.
 *
 * Along an axis, pixel q and the i-th tap of its phase meet in source element
 * q * D_STEP + base + i * D_MOVE, where `base` is the phase's.
 *
 *         dx, stride 2:  0 1 0 1 0 1 0      phases: the remainders
 *                        0   1   2   3      pixels q of phase 0
 *
 * Defines   see gemm.cl
 */
#define PIXELS (P_IMAGES * D_GRID_D * D_GRID_H * D_GRID_W) /* of a phase */
#define PHASES (D_PHASES_D * D_PHASES_H * D_PHASES_W)

/* ---- a phase's taps ---- */

typedef struct {
    int first, count; /* taps first, first + D_JUMP, ... */
    int base;
} axis_taps;

#if D_BACKWARD
INLINE axis_taps taps_of(const int phase, const int pad, const int filter, const int stride,
                         const int dilation, const int jump)
{
    const int at = phase + pad, last = min(jump, filter);
    axis_taps t = {0, 0, 0};
    while (t.first < last && (at - t.first * dilation) % stride != 0)
        t.first++;
    t.count = t.first < last ? (filter - 1 - t.first) / jump + 1 : 0;
    t.base = (at - t.first * dilation) / stride;
    return t;
}
#define TAPS_OF(A, phase)                                                                          \
    taps_of(phase, P_PAD_##A, P_FILTER_##A, P_STRIDE_##A, P_DILATION_##A, D_JUMP_##A)
#else
#define TAPS_OF(A, phase) {0, P_FILTER_##A, -P_PAD_##A}
#endif

typedef struct {
    axis_taps d, h, w;
} phase_taps;

INLINE phase_taps taps_of_phase(const int phase)
{
    const axis_taps d = TAPS_OF(D, phase / (D_PHASES_H * D_PHASES_W));
    const axis_taps h = TAPS_OF(H, phase / D_PHASES_W % D_PHASES_H);
    const axis_taps w = TAPS_OF(W, phase % D_PHASES_W);
    const phase_taps t = {d, h, w};
    return t;
}

/* Which of a phase's taps, along each axis. */
typedef struct {
    int d, h, w;
} tap_index;

INLINE tap_index tap_at(const phase_taps *t, const int i)
{
    const int rows = i / t->w.count;
    const tap_index at = {rows / t->h.count, rows % t->h.count, i % t->w.count};
    return at;
}

/* The tap's place in the filter. */
INLINE int filter_tap(const phase_taps *t, const tap_index i)
{
    return ((t->d.first + i.d * D_JUMP_D) * P_FILTER_H + t->h.first + i.h * D_JUMP_H) * P_FILTER_W +
           t->w.first + i.w * D_JUMP_W;
}

/* ---- pixels ---- */

/* Where a pixel's patch begins in the source; where there is no such pixel, it lies outside. */
typedef struct {
    INDEX_T image;
    int d, h, w;
} pixel_place;

#define OUTSIDE (1 << 30) /* more than any size, and an int with any size added */

INLINE pixel_place place_of(const phase_taps *t, const int pixel)
{
    const int w = pixel % D_GRID_W, h = pixel / D_GRID_W % D_GRID_H,
              d = pixel / (D_GRID_W * D_GRID_H) % D_GRID_D,
              image = pixel / (D_GRID_W * D_GRID_H * D_GRID_D);
    const pixel_place p = {(INDEX_T)image * D_SRC_IMAGE, d * D_STEP_D + t->d.base,
                           pixel < PIXELS ? h * D_STEP_H + t->h.base : -OUTSIDE,
                           w * D_STEP_W + t->w.base};
    return p;
}

INLINE bool is_inside(const int d, const int h, const int w)
{
    return (uint)d < P_SRC_D && (uint)h < P_SRC_H && (uint)w < P_SRC_W;
}

/* The element of channel 0 in the first image. */
INLINE INDEX_T element_of(const int d, const int h, const int w)
{
    return (INDEX_T)d * D_SRC_PLANE + (INDEX_T)h * D_SRC_ROW + (INDEX_T)w * D_SRC_PIXEL;
}

/* The element of channel 0 that the tap meets; -1: padding, or no pixel. */
INLINE INDEX_T source_of(const pixel_place *p, const tap_index i)
{
    const int d = p->d + i.d * D_MOVE_D, h = p->h + i.h * D_MOVE_H, w = p->w + i.w * D_MOVE_W;
    return is_inside(d, h, w) ? p->image + element_of(d, h, w) : -1;
}

/* The destination's element of channel 0 for a pixel; -1: the last row or column of some phases has
 * none there. */
INLINE INDEX_T result_of(const int pixel, const int phase)
{
    const int w = pixel % D_GRID_W * D_PHASES_W + phase % D_PHASES_W,
              h = pixel / D_GRID_W % D_GRID_H * D_PHASES_H + phase / D_PHASES_W % D_PHASES_H,
              d = pixel / (D_GRID_W * D_GRID_H) % D_GRID_D * D_PHASES_D +
                  phase / (D_PHASES_H * D_PHASES_W),
              image = pixel / (D_GRID_W * D_GRID_H * D_GRID_D);
    const bool inside = PHASES == 1 || (d < P_DST_D && h < P_DST_H && w < P_DST_W);
    return inside && pixel < PIXELS
               ? (INDEX_T)image * D_DST_IMAGE + (INDEX_T)d * D_DST_PLANE + (INDEX_T)h * D_DST_ROW +
                     (INDEX_T)w * D_DST_PIXEL
               : -1;
}
