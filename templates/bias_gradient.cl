/* bias_gradient.cl: db[channel] = the sum of dy over images and pixels.
 *
 * Grid      D_GROUP items a channel, one group each.
 * Defines   D_GROUP, a power of two; those of types.cl.
 * Assumes   dy has `n` images of `planes` planes of `rows` rows of `columns` pixels, at distances
 *           of `image`, `plane`, `row` and `pixel` elements; channels lie in blocks of
 *           `neighbours`, at `channel` elements from one to the next, and `block` elements from
 *           block to block.
 *
 * The items of a group stand side by side on a row and step over it together; a tree then adds
 * their sums:
 *
 *     row     0 1 2 3 0 1 2 3 0 1 ...     item that adds a pixel (D_GROUP = 4)
 *     tree    0+2 1+3 -> 0+1
 */
#include "types.cl"

#if SRC_TYPE == TYPE_I8
#define SUM_T long
#else
#define SUM_T float
#endif

kernel GROUP_SIZE(D_GROUP, 1, 1) void bias_gradient(global const SRC_T *restrict dy,
                                                    global float *db, INDEX_T n, INDEX_T planes,
                                                    INDEX_T rows, INDEX_T columns, INDEX_T image,
                                                    INDEX_T plane, INDEX_T row, INDEX_T pixel,
                                                    INDEX_T neighbours, INDEX_T block,
                                                    INDEX_T channel)
{
    local SUM_T part[D_GROUP];
    const int item = (int)get_local_id(0);
    const INDEX_T at = (INDEX_T)get_group_id(0);
    dy += at / neighbours * block + at % neighbours * channel;
    SUM_T sum = 0;
    for (INDEX_T i = 0; i < n; i++)
        for (INDEX_T d = 0; d < planes; d++)
            for (INDEX_T h = 0; h < rows; h++) {
                global const SRC_T *line = dy + i * image + d * plane + h * row;
                SUM_T run = 0;
                for (INDEX_T left = columns - item; left > 0; left -= D_GROUP)
                    run += SRC_LOAD(line, (columns - left) * pixel);
                sum += run;
            }
    part[item] = sum;
    for (int width = D_GROUP / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < width)
            part[item] += part[item + width];
    }
    if (item == 0)
        db[at] = (float)part[0];
}
