/* wgmma_results.cl: the sums of a warp become results: finished, they pass through the warp's own
 * room in local memory, 128 bytes of a pixel at a time, so that neighbouring items write long runs:
 * channels of a pixel, or pixels of a channel.
 *
 *   ROOM_BYTES          of a warp
 *   put_rows(dst, room, sum, place, n_first, lane EPILOGUE_PASS)
 *                       finishes and writes a warp's 16 rows of a product, T_COLUMNS channels from
 *                       `n_first` on
 *
 * Defines   those of epilogue.cl, mma_bits.cl and mma_tile.cl, and D_DST_C
 * Assumes   PLACE(row, byte): where a byte stands in rows of 128, in turned places; tile_place, and
 *           result_of(place, row): the element of channel 0 of the pixel that row 0 to 15 is; -1:
 *           there is no such pixel. Where channels are no neighbours, rows that D_OUT_UNIT has are
 *           neighbouring pixels, all of them or none.
 */
#define ROOM_BYTES (16 * 128)
#define PASS_COLUMNS (T_COLUMNS < 128 / DST_BYTES ? T_COLUMNS : 128 / DST_BYTES)
#define ELEMENTS (D_OUT_UNIT / DST_BYTES) /* of a store */

#define ALONG_PIXELS (D_DST_CHANNEL != 1)
#if ALONG_PIXELS
#define ROOM_AT(row, column) ((column)*16 + (row))
#else
#define ROOM_AT(row, column) (PLACE(row, (column)*DST_BYTES) / DST_BYTES)
#endif

/* Finishes columns from `first` on of a warp's 16 rows, pixels from *p on, into its room. */
INLINE void finish_columns(local BITS_T *room, const ACC_T sum[SUMS_C][4], const tile_place *p,
                           const int first, const int n_first, const int lane EPILOGUE_PARAMS)
{
    UNROLL
    for (int low = 0; low < 2; low++) {
        const int row = low * 8 + lane / 4;
        const INDEX_T pixel = result_of(p, row);
        UNROLL
        for (int j = 0; j < PASS_COLUMNS / 8 && first / 8 + j < SUMS_C; j++) {
            const int channel = n_first + first + SUM_COLUMN(j);
            VAL_T v[2] = {0, 0};
            UNROLL
            for (int e = 0; e < 2; e++)
                if (pixel >= 0 && channel + e < D_DST_C)
                    v[e] = FINISH(sum[first / 8 + j][low * 2 + e], channel + e,
                                  pixel + DST_CHANNEL(channel + e));
            const BITS_PAIR_T pair = BITS_PAIR(v[0], v[1]);
#if ALONG_PIXELS
            room[ROOM_AT(row, SUM_COLUMN(j))] = LOW_OF_PAIR(pair);
            room[ROOM_AT(row, SUM_COLUMN(j) + 1)] = HIGH_OF_PAIR(pair);
#else
            *(local BITS_PAIR_T *)(room + ROOM_AT(row, SUM_COLUMN(j))) = pair;
#endif
        }
    }
}

/* The row and column of a warp's store i: first along what are neighbours in memory. */
INLINE int2 store_place(const int i)
{
#if ALONG_PIXELS
    return (int2)(i % (16 / ELEMENTS) * ELEMENTS, i / (16 / ELEMENTS));
#elif D_DST_BLOCKS > 1
    return (int2)(i % 16, i / 16 * ELEMENTS);
#else
    return (int2)(i / (PASS_COLUMNS / ELEMENTS), i % (PASS_COLUMNS / ELEMENTS) * ELEMENTS);
#endif
}

INLINE void write_columns(global DST_T *dst, local const BITS_T *room, const tile_place *p,
                          const int first, const int n_first, const int lane)
{
    global BITS_T *to = (global BITS_T *)dst;
    UNROLL
    for (int i = 0; i < 16 * PASS_COLUMNS / ELEMENTS; i += 32) {
        const int2 at = store_place(i + lane);
        const INDEX_T pixel = result_of(p, at.x);
        const int channel = n_first + first + at.y;
        if (pixel >= 0 && first + at.y < T_COLUMNS && channel < D_DST_C)
            *(global UNIT_T *)(to + pixel + DST_CHANNEL(channel)) =
                *(local const UNIT_T *)(room + ROOM_AT(at.x, at.y));
    }
}

INLINE void put_rows(global DST_T *dst, local BITS_T *room, const ACC_T sum[SUMS_C][4],
                     const tile_place *p, const int n_first, const int lane EPILOGUE_PARAMS)
{
    UNROLL
    for (int first = 0; first < T_COLUMNS; first += PASS_COLUMNS) {
        finish_columns(room, sum, p, first, n_first, lane EPILOGUE_PASS);
        WARP_BARRIER;
        write_columns(dst, room, p, first, n_first, lane);
        WARP_BARRIER;
    }
}
