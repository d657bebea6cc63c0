/* amx_tiles.cl: the tile registers of x86's AMX, and products of them.
 *
 * A tile register holds up to 16 rows of 64 bytes. A product adds, to a tile of sums, rows of source
 * elements times columns of weights, which lie in pairs of bf16 or in quads of bytes:
 *
 *     sums[row][k] += source[row][e] * weights[e / AMX_TOGETHER][k][e % AMX_TOGETHER]
 *
 * To bf16's products numbers below 2^-126 are zero. All eight registers have fixed places:
 *
 *                        weights 0 (6)   weights 1 (7)
 *        source 0 (4)      sums (0)        sums (1)
 *        source 1 (5)      sums (2)        sums (3)
 *
 *   AMX_FUNCTION                  declares a static function that uses tiles, and begins and ends them
 *   AMX_INLINE                    declares one that such a function inlines
 *   AMX_BEGIN(rows, bytes)        sets the sizes: rows of sources and sums, bytes of a source's row
 *   AMX_END                       gives the registers back
 *   AMX_ZERO(sums), AMX_LOAD(tile, p, pitch), AMX_STORE(sums, p, pitch)   pitch in bytes
 *   AMX_MULTIPLY(sums, source, weights)
 *   AMX_ELEMENTS, AMX_TOGETHER    elements of a row of 64 bytes; of 4 bytes
 *
 * Compilers do not know that the CPU has them: functions ask for the instructions.
 */
#include "types.cl"

#define AMX_TARGET target("amx-tile,amx-bf16,amx-int8")
#define AMX_FUNCTION static __attribute__((noinline, AMX_TARGET))
#define AMX_INLINE INLINE __attribute__((AMX_TARGET))

#define AMX_TOGETHER (4 / (int)sizeof(SRC_T))
#define AMX_ELEMENTS (16 * AMX_TOGETHER)

/* The operand of the instruction that sets sizes: palette 1 has eight registers. */
typedef struct amx_sizes {
    uchar palette, start, none[14];
    ushort row_bytes[16];
    uchar rows[16];
} amx_sizes;

AMX_INLINE void amx_begin(const int rows, const int bytes)
{
    amx_sizes all __attribute__((aligned(64))) = {.palette = 1};
#pragma unroll
    for (int i = 0; i < 8; i++) {
        all.row_bytes[i] = i == 4 || i == 5 ? bytes : 64;
        all.rows[i] = i < 6 ? rows : bytes / 4;
    }
    __builtin_ia32_tile_loadconfig(&all);
}

#define AMX_BEGIN(rows, bytes) amx_begin(rows, bytes)
#define AMX_END __builtin_ia32_tilerelease()
#define AMX_ZERO(sums) __builtin_ia32_tilezero(sums)
#define AMX_LOAD(tile, p, pitch) __builtin_ia32_tileloadd64(tile, (const void *)(size_t)(p), pitch)
#define AMX_STORE(sums, p, pitch) __builtin_ia32_tilestored64(sums, (void *)(size_t)(p), pitch)
#if SRC_TYPE == TYPE_I8
#define AMX_MULTIPLY(sums, source, weights) __builtin_ia32_tdpbssd(sums, source, weights)
#else
#define AMX_MULTIPLY(sums, source, weights) __builtin_ia32_tdpbf16ps(sums, source, weights)
#endif
