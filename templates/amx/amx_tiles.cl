/* amx_tiles.cl: the tile registers of x86's AMX, and products of them.
 *
 * A tile register holds up to 16 rows of 64 bytes. A product adds, to a tile of sums, rows of
 * source elements times columns of weights, which lie in pairs of bf16 or in quads of bytes:
 *
 *     sums[row][k] += source[row][e] * weights[e / AMX_TOGETHER][k][e % AMX_TOGETHER]
 *
 * To bf16's products numbers below 2^-126 are zero. All eight registers have fixed places:
 *
 *                        weights 0 (6)   weights 1 (7)
 *        source 0 (4)      sums (0)        sums (1)
 *        source 1 (5)      sums (2)        sums (3)
 *
 *   AMX_BEGIN(rows, bytes)        sets the sizes: rows of sources and sums, bytes of a source's row
 *   AMX_END                       gives the registers back
 *   AMX_ZERO(sums), AMX_LOAD(tile, p, pitch), AMX_STORE(sums, p, pitch)   pitch in bytes
 *   AMX_MULTIPLY(sums, source, weights)
 *   AMX_ELEMENTS, AMX_TOGETHER    elements of a row of 64 bytes; of 4 bytes
 *
 * The instructions are written as bytes: a compiler that takes the CPU for an older one refuses
 * their names, and gives them only to functions that ask for them, which it does not inline; a
 * compiler hands such a function the memory of a kernel's `local` variable as a constant, and PoCL,
 * which makes a variable for each thread, does not see that. No compiler uses tile registers by
 * itself, so that they hold what these instructions put there.
 */
#include "types.cl"

#define AMX_TOGETHER (4 / (int)sizeof(SRC_T))
#define AMX_ELEMENTS (16 * AMX_TOGETHER)

/* The operand of the instruction that sets sizes: palette 1 has eight registers. */
typedef struct amx_sizes {
    uchar palette, start, none[14];
    ushort row_bytes[16];
    uchar rows[16];
} amx_sizes;

INLINE void amx_begin(const int rows, const int bytes)
{
    amx_sizes all __attribute__((aligned(64))) = {.palette = 1};
#pragma unroll
    for (int i = 0; i < 8; i++) {
        all.row_bytes[i] = i == 4 || i == 5 ? bytes : 64;
        all.rows[i] = i < 6 ? rows : bytes / 4;
    }
    /* ldtilecfg (%rax) */
    __asm__ volatile(".byte 0xc4, 0xe2, 0x78, 0x49, 0x00" : : "a"(&all) : "memory");
}

#define AMX_BEGIN(rows, bytes) amx_begin(rows, bytes)
/* tilerelease */
#define AMX_END __asm__ volatile(".byte 0xc4, 0xe2, 0x78, 0x49, 0xc0")
/* tilezero %tmm */
#define AMX_ZERO(sums)                                                                             \
    __asm__ volatile(".byte 0xc4, 0xe2, 0x7b, 0x49, 0xc0 + 8 * %c0" : : "i"(sums))
/* tileloadd (%rax, %rcx), %tmm and tilestored %tmm, (%rax, %rcx) */
#define AMX_MOVE(byte, tile, p, pitch)                                                             \
    __asm__ volatile(".byte 0xc4, 0xe2, " byte ", 0x4b, 4 + 8 * %c0, 8"                            \
                     :                                                                             \
                     : "i"(tile), "a"((size_t)(p)), "c"((size_t)(pitch))                           \
                     : "memory")
#define AMX_LOAD(tile, p, pitch) AMX_MOVE("0x7b", tile, p, pitch)
#define AMX_STORE(sums, p, pitch) AMX_MOVE("0x7a", sums, p, pitch)
/* tdpbssd or tdpbf16ps %tmm, %tmm, %tmm */
#if SRC_TYPE == TYPE_I8
#define AMX_PRODUCT "3, 0x5e"
#else
#define AMX_PRODUCT "2, 0x5c"
#endif
#define AMX_MULTIPLY(sums, source, weights)                                                        \
    __asm__ volatile(".byte 0xc4, 0xe2, 8 * (15 - %c2) + " AMX_PRODUCT ", 0xc0 + 8 * %c0 + %c1"    \
                     :                                                                             \
                     : "i"(sums), "i"(source), "i"(weights))
