/* gemm_mma_stage.cl: how a stage of gemm_mma.cl lies in local memory, and the copies that fill it.
 *
 *     rows of ROW_BYTES:  | 16 B | 16 B | ...     PLACE(row, byte): 16 bytes stand in another order
 *     T_ROWS of pixels,   |      |      |         in each row, so that eight rows that are read at
 *     then T_COLUMNS of channels; for each team   once lie in different banks
 *
 *   patch, patch_of(taps, pixel)     where a pixel's patch begins
 *   terms_place, set_tap, next_terms the terms that an item copies in a step
 *   copy_source, copy_weights        start an item's copies of a step
 *
 * Assumes   what gemm_mma.cl includes before it.
 */
#define TERMS (T_BYTES / MMA_BYTES) /* of a step */
#define TEAM_ITEMS GROUP_ITEMS
#define ALL_ITEMS (TEAMS * TEAM_ITEMS)

#define ROW_BYTES (T_BYTES < 128 ? T_BYTES : 128)
#define TEAMS (T_BYTES / ROW_BYTES)
#define TURN(row) (ROW_BYTES == 128 ? (row) & 7 : (row) >> 1 & 3)
#define PLACE(row, byte) ((row)*ROW_BYTES + ((((byte) >> 4) ^ TURN(row)) << 4) + ((byte)&15))
#define TEAM_BYTES ((T_ROWS + T_COLUMNS) * ROW_BYTES)
#define STAGE_BYTES (TEAMS * TEAM_BYTES)
#define WEIGHTS_AT (T_ROWS * ROW_BYTES)

/* Neighbouring items copy neighbouring units of a row, or of blocks of channels the same unit of
 * eight rows; a team, rows that are so far apart. TURN is the same for all rows of an item. */
#define SRC_ACROSS (ROW_BYTES / D_UNIT)
#if D_SRC_BLOCKS > 1
#define SRC_ROW(item) ((item) / (8 * SRC_ACROSS) * 8 + (item) % 8)
#define SRC_BYTE(item) ((item) / 8 % SRC_ACROSS * D_UNIT)
#else
#define SRC_ROW(item) ((item) / SRC_ACROSS)
#define SRC_BYTE(item) ((item) % SRC_ACROSS * D_UNIT)
#endif
#define SRC_DOWN (TEAM_ITEMS / SRC_ACROSS)
#define SRC_TIMES ((T_ROWS + SRC_DOWN - 1) / SRC_DOWN)
#define W_ACROSS (ROW_BYTES / 16)
#define W_DOWN (TEAM_ITEMS / W_ACROSS)
#define W_TIMES ((T_COLUMNS + W_DOWN - 1) / W_DOWN)
#define IS_ROW(row, down, rows) ((rows) % (down) == 0 || (row) < (rows))

/* Where a pixel's patch begins; where there is no such pixel, it lies outside. */
typedef struct {
    INDEX_T element;
    int d, h, w;
} patch;

INLINE patch patch_of(const phase_taps *t, const int pixel)
{
    const pixel_place p = place_of(t, pixel);
    const patch q = {pixel < PIXELS ? p.image + element_of(p.d, p.h, p.w) : 0, p.d, p.h, p.w};
    return q;
}

/* Where a channel lies from channel 0 on. */
#if D_SRC_BLOCKS > 1
#define SRC_CHANNEL(c)                                                                             \
    ((INDEX_T)((c) / D_SRC_NEIGHBOURS) * D_SRC_BLOCK + (c) % D_SRC_NEIGHBOURS)
#else
#define SRC_CHANNEL(c) (c)
#endif

/* The terms that an item copies in a step: a tap, as a distance from the patch's beginning, and a
 * channel. */
typedef struct {
    int tap, channel;
    INDEX_T element;
    int d, h, w;
} terms_place;

INLINE void set_tap(terms_place *p, const phase_taps *t, const int tap)
{
    const tap_index i = tap_at(t, tap);
    p->tap = tap;
    p->d = i.d * D_MOVE_D;
    p->h = i.h * D_MOVE_H;
    p->w = i.w * D_MOVE_W;
    p->element = element_of(p->d, p->h, p->w);
}

INLINE void next_terms(terms_place *p, const phase_taps *t, const int taps)
{
#if D_TAPS_INNER
    int tap = p->tap + 1;
    if (tap == taps) {
        tap = 0;
        p->channel += TERMS;
    }
#else
    int tap = p->tap + TERMS / D_CHANNELS;
    p->channel += TERMS % D_CHANNELS;
    if (p->channel >= D_CHANNELS) {
        p->channel -= D_CHANNELS;
        tap++;
    }
#endif
    if (tap != p->tap)
        set_tap(p, t, tap);
}

/* All taps of one step's channels follow one another: the first cache has most of them. */
#if T_WGMMA && D_TAPS_INNER && D_CHANNELS == TERMS
#define COPY_SOURCE(to, from, given) COPY_ASYNC_OF("ca", D_UNIT, to, from, given)
#else
#define COPY_SOURCE(to, from, given) COPY_ASYNC(D_UNIT, to, from, given)
#endif

INLINE void copy_source(const uint to, global const MMA_T *src, const patch *patches,
                        const terms_place *at, const int c_first, const int row, const int taps)
{
    const INDEX_T channel = SRC_CHANNEL(c_first + at->channel);
    UNROLL
    for (int i = 0; i < SRC_TIMES; i++) {
        const patch *p = &patches[i];
        const bool inside =
            is_inside(p->d + at->d, p->h + at->h, p->w + at->w) && at->tap < taps;
        const INDEX_T element = inside ? p->element + at->element + channel : 0;
        if (IS_ROW(row + i * SRC_DOWN, SRC_DOWN, T_ROWS))
            COPY_SOURCE(to + i * SRC_DOWN * ROW_BYTES, src + element, inside ? D_UNIT : 0);
    }
}

INLINE void copy_weights(const uint to, global const MMA_T *packed, const int row)
{
    UNROLL
    for (int i = 0; i < W_TIMES; i++)
        if (IS_ROW(row + i * W_DOWN, W_DOWN, T_COLUMNS))
            COPY_ASYNC(16, to + i * W_DOWN * ROW_BYTES, packed + (INDEX_T)i * W_DOWN * D_ROW, 16);
}
