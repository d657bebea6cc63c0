/* pack_channels.cl: packs weights for vectors of destination channels, as [tile of channels]
 * [step of source channels][tap][element][lane], and converts them; zero where there is no channel.
 * All sizes are arguments, so that layers of all sizes share the program.
 *
 * An element is a source channel, or D_TOGETHER neighbouring ones as parts of an int, or of the
 * bits of a float (see products.cl). Before the first step of a tile stand the corrections of sums
 * for the source's offset, [row of the filter][lane].
 *
 * A tile belongs to a span of channels, and starts at `latest` of the span or earlier. A span is a
 * group, or all groups where a tile has several. A lane's weights lie in the source from
 *
 *     group * next_group + channel of the group * next_dst + source channel * next_src
 *         + first_tap + tap * next_tap
 *
 * An item packs `item_channels` source channels, whole steps, of a tile.
 *
 * Grid: (items, and one more that writes corrections; tiles).
 *
 * Defines, besides those of types.cl:
 *   D_TOGETHER     1, 2, or 4: channels of an element
 *   D_FLOAT        1: packed bytes become floats
 */
#include "types.cl"

#if D_FLOAT
#define PACKED_T float
#else
#define PACKED_T ACC_T
#endif
#define ELEMENTS(channels) (((channels) + D_TOGETHER - 1) / D_TOGETHER)

/* `left` source channels of the step are left from this one on. */
static inline PACKED_T element(global const SRC_T *w, const long left, const long next_src)
{
#define WEIGHT(j) (left > (j) ? SRC_LOAD(w, (j)*next_src) : 0)
#if D_TOGETHER == 4
    return as_int((char4)((char)WEIGHT(0), (char)WEIGHT(1), (char)WEIGHT(2), (char)WEIGHT(3)));
#elif D_TOGETHER == 2 && SRC_TYPE == TYPE_BF16
    return as_float(as_uint(WEIGHT(0)) >> 16 | as_uint(WEIGHT(1)));
#elif D_TOGETHER == 2
    return as_int((short2)((short)WEIGHT(0), (short)WEIGHT(1)));
#else
    return WEIGHT(0);
#endif
}

#if D_TOGETHER == 4
/* -128 times the sum of the weights of `taps` taps from w on, of all source channels. */
static inline int correction(global const SRC_T *w, const long src_channels, const long next_src,
                             const long taps, const long next_tap)
{
    int sum = 0;
    for (long c = 0; c < src_channels; c++)
        for (long tap = 0; tap < taps; tap++)
            sum += (int)SRC_LOAD(w, c * next_src + tap * next_tap);
    return -128 * sum;
}
#endif

/* It packs no faster in vectors, and takes longer to compile. */
#define NO_VECTORS _Pragma("clang loop vectorize(disable)")

kernel GROUP_SIZE(1, 1, 1) void pack_channels(
    global const SRC_T *restrict w, global PACKED_T *restrict packed, const long lanes,
    const long tiles, const long channels, const long latest, const long group_channels,
    const long src_channels, const long step, const long item_channels, const long taps,
    const long rows, const long next_group, const long next_dst, const long next_src,
    const long first_tap, const long next_tap, const long tile_elements)
{
    const long begin = get_global_id(0) * item_channels, tile = get_global_id(1);
    const long end = min(begin + item_channels, src_channels);
    const long own = min(tile % tiles * lanes, latest), k = tile / tiles * channels + own;
    long channel = k % group_channels;
    global const SRC_T *of_lane =
        w + k / group_channels * next_group + channel * next_dst + first_tap;
    packed += tile * tile_elements;
    NO_VECTORS
    for (long lane = 0; lane < lanes; lane++) {
        const bool there = own + lane < channels;
        global const SRC_T *from = of_lane + begin * next_src;
        global PACKED_T *to =
            packed + lane + (rows + begin / step * ELEMENTS(step) * taps) * lanes;
        NO_VECTORS
        for (long c = begin; c < end; c += step) {
            const long own_step = min(step, src_channels - c), elements = ELEMENTS(own_step);
            const long left = there ? own_step : 0; /* no element has channels of two steps */
            NO_VECTORS
            for (long i = 0; i < elements; i++)
                NO_VECTORS
                for (long tap = 0; tap < taps; tap++)
                    to[(tap * elements + i) * lanes] =
                        element(from + i * D_TOGETHER * next_src + tap * next_tap,
                                left - i * D_TOGETHER, next_src);
            from += step * next_src;
            to += elements * taps * lanes;
        }
#if D_TOGETHER == 4
        for (long row = 0; row < rows && begin >= src_channels; row++)
            packed[row * lanes + lane] =
                there ? correction(of_lane + row * (taps / rows) * next_tap, src_channels, next_src,
                                   taps / rows, next_tap)
                      : 0;
#endif
        of_lane += next_dst;
        if (++channel == group_channels) {
            channel = 0;
            of_lane += next_group - group_channels * next_dst;
        }
    }
}
