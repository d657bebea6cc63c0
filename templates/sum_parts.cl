/* sum_parts.cl: adds up the parts of a sum, in order, so that two runs give the same bits.
 *
 *      part 0   [ ........ ]
 *      part 1   [ ........ ]      dst[i] = part 0 [i] + part 1 [i] + ...
 *      ...
 *
 * Grid: (D_COUNT), rounded up. Defines: D_COUNT elements, D_PARTS parts, and those of types.cl.
 */
#include "types.cl"

kernel void sum_parts(global const ACC_T *restrict part, global DST_T *restrict dst)
{
    const INDEX_T i = get_global_id(0);
    if (i >= D_COUNT)
        return;
    ACC_T sum = 0;
    for (int p = 0; p < D_PARTS; p++)
        sum += part[(INDEX_T)p * D_COUNT + i];
    DST_STORE(dst, i, sum);
}
