/* padding.cl: counts the cells of a layout's padding that do not hold zero.
 *
 *   grid       {cells} of a buffer, {width, height} of an image: one work-item each
 *   D_COORDS   the element of a cell: "n=cell/105,c=cell/35%3,...", of an image over px, py, lane
 *   D_INSIDE   whether the cell has an element: "c<3"
 *   P_CELLS, or with P_IMAGE=1 P_WIDTH and P_HEIGHT: the layout's size
 */
#include "types.cl"

static inline bool is_padding(INDEX_T cell, INDEX_T px, INDEX_T py, INDEX_T lane)
{
    const INDEX_T D_COORDS;
    return !(D_INSIDE);
}

#ifdef P_IMAGE
constant sampler_t kiln_nearest =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;

kernel void padding(read_only image2d_t from, global int *count)
{
    const int px = get_global_id(0), py = get_global_id(1);
    if (px >= P_WIDTH || py >= P_HEIGHT)
        return;
#if SRC_TYPE == TYPE_I8 || SRC_TYPE == TYPE_I32
    const int4 v = read_imagei(from, kiln_nearest, (int2)(px, py));
#else
    const float4 v = read_imagef(from, kiln_nearest, (int2)(px, py));
#endif
    /* A NaN is not zero either. */
    const int bad =
        (is_padding(0, px, py, 0) && v.x != 0) + (is_padding(0, px, py, 1) && v.y != 0) +
        (is_padding(0, px, py, 2) && v.z != 0) + (is_padding(0, px, py, 3) && v.w != 0);
    if (bad)
        atomic_add(count, bad);
}
#else
kernel void padding(global const SRC_T *from, global int *count)
{
    const INDEX_T cell = get_global_id(0);
    if (cell < P_CELLS && is_padding(cell, 0, 0, 0) && SRC_LOAD(from, cell) != 0)
        atomic_inc(count);
}
#endif
