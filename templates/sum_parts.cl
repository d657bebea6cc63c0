/* sum_parts.cl: adds up the parts of a sum, in order, so that two runs give the same bits.
 *
 *      part 0   [ ........ ]
 *      part 1   [ ........ ]      dst[i] = part 0 [i] + part 1 [i] + ...
 *      ...
 *
 * Grid: (ceil(D_COUNT / D_SPAN)), one item D_SPAN elements; rounded up.
 *
 * Defines, besides those of types.cl and items.cl: D_COUNT elements, D_PARTS parts, D_SPAN. With
 * D_LONG_SUMS each part fits an int, and their sum may not.
 */
#include "items.cl"
#include "types.cl"

#ifdef D_LONG_SUMS
#define PART_T int
#else
#define PART_T ACC_T
#endif

INLINE void item(global const PART_T *part, global DST_T *dst, const INDEX_T begin)
{
    const INDEX_T end = min(begin + D_SPAN, (INDEX_T)D_COUNT);
    for (INDEX_T i = begin; i < end; i++) {
        ACC_T sum = 0;
        for (int p = 0; p < D_PARTS; p++)
            sum += part[(INDEX_T)p * D_COUNT + i];
        DST_STORE(dst, i, sum);
    }
}

#define ITEM_HERE item(part, dst, (INDEX_T)ITEM(0) * D_SPAN)
DEFINE_ITEM(ITEM_HERE, (global const PART_T *part, global DST_T *dst))

kernel void sum_parts(global const PART_T *restrict part, global DST_T *restrict dst ITEMS_PARAM)
{
    EACH_ITEM(ITEM_HERE, (part, dst))
}
