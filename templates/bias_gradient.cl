/* bias_gradient.cl: db[channel] = the sum of dy over images and pixels.
 *
 * Grid      D_GROUP items a channel, one group each.
 * Defines   D_GROUP, a power of two; those of types.cl.
 * Assumes   dy is plain: `n` images of `channels` planes of `plane` pixels.
 *
 * The items of a group stand side by side on a plane and step over it together; a tree then adds
 * their sums:
 *
 *     plane   0 1 2 3 0 1 2 3 0 1 ...     item that adds a pixel (D_GROUP = 4)
 *     tree    0+2 1+3 -> 0+1
 */
#include "types.cl"

#if SRC_TYPE == TYPE_I8
#define SUM_T long
#else
#define SUM_T float
#endif

kernel GROUP_SIZE(D_GROUP, 1, 1) void bias_gradient(global const SRC_T *restrict dy,
                                                    global float *db, INDEX_T n, INDEX_T channels,
                                                    INDEX_T plane)
{
    local SUM_T part[D_GROUP];
    const int item = (int)get_local_id(0);
    const INDEX_T channel = (INDEX_T)get_group_id(0);
    SUM_T sum = 0;
    for (INDEX_T image = 0; image < n; image++) {
        global const SRC_T *pixel = dy + (image * channels + channel) * plane;
        SUM_T run = 0;
        for (INDEX_T left = plane - item; left > 0; left -= D_GROUP)
            run += SRC_LOAD(pixel, plane - left);
        sum += run;
    }
    part[item] = sum;
    for (int width = D_GROUP / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < width)
            part[item] += part[item + width];
    }
    if (item == 0)
        db[channel] = (float)part[0];
}
