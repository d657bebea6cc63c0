/* amx_probe.cl: one product of tile registers, for the runtime to see whether kernels may use them.
 *
 *     sums[row][k] = sum over 32 e of left(row, e) * right(k, e), 16 x 16 floats
 *
 * Grid      (1), one item
 * Defines   SRC_TYPE=TYPE_BF16, DST_TYPE=TYPE_F32
 */
#include "amx_tiles.cl"

/* Small integers 0 to 3 as bf16. */
#define BF16(i) ((ushort)((i) == 0 ? 0 : (i) == 1 ? 0x3f80 : (i) == 2 ? 0x4000 : 0x4040))
#define LEFT(row, e) (((row)*3 + (e)*5 + (row) * (e) / 7) % 4)
#define RIGHT(k, e) (((k)*7 + (e)*3 + (k) * (e) / 5) % 4)

INLINE void multiply(global float *sums, const ushort *left, const ushort *right)
{
    AMX_BEGIN(16, 64);
    AMX_ZERO(0);
    AMX_LOAD(4, left, 64);
    AMX_LOAD(6, right, 64);
    AMX_MULTIPLY(0, 4, 6);
    AMX_STORE(0, sums, 64);
    AMX_END;
}

kernel GROUP_SIZE(1, 1, 1) void amx_probe(global float *sums)
{
    ushort left[16 * AMX_ELEMENTS], right[16 * AMX_ELEMENTS];
    for (int i = 0; i < 16 * AMX_ELEMENTS; i++) {
        const int row = i / AMX_ELEMENTS, e = i % AMX_ELEMENTS;
        const int to = (e / AMX_TOGETHER * 16 + row) * AMX_TOGETHER + e % AMX_TOGETHER;
        left[i] = BF16(LEFT(row, e));
        right[to] = BF16(RIGHT(row, e));
    }
    multiply(sums, left, right);
}
