/* wgmma.cl: the products of mma.cl by the instructions of NVIDIA's compute capability 9.0 alone:
 * four warps multiply 64 rows by T_COLUMNS columns as one, with both factors in local memory.
 *
 *   WGMMA_FENCE_COPIES      before a barrier: what the item copied is seen by the products after it
 *   WGMMA_BEGIN             before the first product of a stage
 *   wgmma(sum, left, right) starts to add 128 bytes of terms: of 64 rows at local address `left`,
 *                           and of T_COLUMNS at `right`; rows of 128 bytes, in which 16 bytes stand
 *                           where 16 * (place ^ row % 8) says, from multiples of 1024 bytes on. An
 *                           item's sums are those of mma.cl, 16 rows a warp
 *   wgmma_step(sum, left, right)  the same for 32 bytes of terms
 *   WGMMA_END               after the last product of a stage
 *   WGMMA_WAIT(n)           until the products of all but the last n stages are done
 *   wgmma_settle(sum)       before the first use of the sums, after WGMMA_WAIT(0)
 *   WGMMA_BARRIER(team)     a barrier for local memory among four warps; `team` is their number in
 *                           the group, below 15
 *
 * The 64 rows are eight times eight. With WGMMA_EIGHTH defined each eight begin so many bytes after
 * the eight before, a multiple of 128, instead of 1024; and `left` is any multiple of 128.
 *
 * OpenCL's compiler takes none of these for an older target: the program asks for another one by
 * -DD_PTX_TARGET (runtime/programs/program_build.h).
 *
 * With WGMMA_TURNED defined the factors lie the other way, f16 and bf16 alone: a row of 128 bytes
 * holds the same term of 64 rows or columns, and the next 64 of them lie WGMMA_TURNED bytes
 * further on. A product is of 64 terms.
 *
 * With WGMMA_LEFT_PIECE defined, 16, 32, 64 or 128, the left factor's rows are cut into pieces of
 * so many bytes: 64 pieces follow one another, then the next 64. 16 bytes stand where 16 * (place ^
 * row / (128 / piece) % (piece / 16)) says, so in pieces of 16 bytes as they are.
 *
 * With WGMMA_LEFT_TURNED defined the left factor alone lies so, in 64 rows of a term each.
 *
 * Defines   those of types.cl; T_COLUMNS: 32, 64, 96, 128, 192 or 256; T_WGMMA: 0: none of this is
 *           used
 */
#include "types.cl"

#if T_WGMMA

#ifndef WGMMA_EIGHTH
#define WGMMA_EIGHTH 1024
#endif

#ifndef WGMMA_LEFT_PIECE
#define WGMMA_LEFT_PIECE 128
#endif
#if WGMMA_LEFT_PIECE == 128
#define WGMMA_LEFT_MODE 1
#define WGMMA_LEFT_EIGHTH WGMMA_EIGHTH
#define WGMMA_LEFT_LEADING WGMMA_LEADING
#else
#define WGMMA_LEFT_EIGHTH (8 * WGMMA_LEFT_PIECE)
#define WGMMA_LEFT_LEADING 1024 /* from one piece of 16 bytes to the next */
#if WGMMA_LEFT_PIECE == 64
#define WGMMA_LEFT_MODE 2
#elif WGMMA_LEFT_PIECE == 32
#define WGMMA_LEFT_MODE 3
#else
#define WGMMA_LEFT_MODE 0
#endif
#endif

#ifdef WGMMA_TURNED
#define WGMMA_NEXT "add.s64 left, left, 128;\nadd.s64 right, right, 128;\n"
#define WGMMA_FLAGS_16 ", 1, 1, 1, 1, 1;\n"
#define WGMMA_LEADING WGMMA_TURNED
#elif defined WGMMA_LEFT_TURNED
#define WGMMA_NEXT "add.s64 left, left, 128;\nadd.s64 right, right, 2;\n"
#define WGMMA_FLAGS_16 ", 1, 1, 1, 1, 0;\n"
#define WGMMA_LEADING 16 /* 64 rows are one row of 128 bytes */
#else
#if WGMMA_LEFT_PIECE < 64
#define WGMMA_NEXT "add.s64 left, left, 128;\nadd.s64 right, right, 2;\n"
#else
#define WGMMA_NEXT "add.s64 left, left, 2;\nadd.s64 right, right, 2;\n"
#endif
#if WGMMA_LEFT_PIECE == 64
#define WGMMA_NEXT_PIECE "add.s64 left, left, 254;\nadd.s64 right, right, 2;\n"
#endif
#define WGMMA_FLAGS_16 ", 1, 1, 1, 0, 0;\n"
#define WGMMA_LEADING 16 /* has no meaning */
#endif

#ifndef WGMMA_NEXT_PIECE
#define WGMMA_NEXT_PIECE WGMMA_NEXT
#endif

#if SRC_TYPE == TYPE_F16
#define WGMMA_TYPES "k16.f32.f16.f16 "
#define WGMMA_FLAGS WGMMA_FLAGS_16
#elif SRC_TYPE == TYPE_BF16
#define WGMMA_TYPES "k16.f32.bf16.bf16 "
#define WGMMA_FLAGS WGMMA_FLAGS_16
#elif SRC_TYPE == TYPE_I8
#define WGMMA_TYPES "k32.s32.s8.s8 "
#define WGMMA_FLAGS ", 1;\n"
#else
#define WGMMA_TYPES "k8.f32.tf32.tf32 "
#define WGMMA_FLAGS ", 1, 1, 1;\n"
#endif
#if SRC_TYPE == TYPE_I8
#define WGMMA_SUM "+r"
#else
#define WGMMA_SUM "+f"
#endif

/* An item's sums as operands, and their names; after them come two addresses. */
#define WGMMA_4(s, i)                                                                              \
    WGMMA_SUM((s)[i][0]), WGMMA_SUM((s)[i][1]), WGMMA_SUM((s)[i][2]), WGMMA_SUM((s)[i][3])
#define WGMMA_16(s, i) WGMMA_4(s, i), WGMMA_4(s, i + 1), WGMMA_4(s, i + 2), WGMMA_4(s, i + 3)
#define WGMMA_32(s, i) WGMMA_16(s, i), WGMMA_16(s, i + 4)
#define WGMMA_64(s, i) WGMMA_32(s, i), WGMMA_32(s, i + 8)

#define WGMMA_NAMES_0 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define WGMMA_NAMES_1                                                                              \
    ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define WGMMA_NAMES_2                                                                              \
    ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define WGMMA_NAMES_3                                                                              \
    ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define WGMMA_NAMES_4                                                                              \
    ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define WGMMA_NAMES_5                                                                              \
    ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define WGMMA_NAMES_6                                                                              \
    ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"
#define WGMMA_NAMES_7                                                                              \
    ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, " \
    "%127"

#if T_COLUMNS == 32
#define WGMMA_SIZE "m64n32"
#define WGMMA_NAMES WGMMA_NAMES_0
#define WGMMA_SUMS(s) WGMMA_16(s, 0)
#define WGMMA_ADDRESSES "mov.b64 left, %16;\nmov.b64 right, %17;\n"
#elif T_COLUMNS == 64
#define WGMMA_SIZE "m64n64"
#define WGMMA_NAMES WGMMA_NAMES_0 WGMMA_NAMES_1
#define WGMMA_SUMS(s) WGMMA_32(s, 0)
#define WGMMA_ADDRESSES "mov.b64 left, %32;\nmov.b64 right, %33;\n"
#elif T_COLUMNS == 96
#define WGMMA_SIZE "m64n96"
#define WGMMA_NAMES WGMMA_NAMES_0 WGMMA_NAMES_1 WGMMA_NAMES_2
#define WGMMA_SUMS(s) WGMMA_32(s, 0), WGMMA_16(s, 8)
#define WGMMA_ADDRESSES "mov.b64 left, %48;\nmov.b64 right, %49;\n"
#elif T_COLUMNS == 128
#define WGMMA_SIZE "m64n128"
#define WGMMA_NAMES WGMMA_NAMES_0 WGMMA_NAMES_1 WGMMA_NAMES_2 WGMMA_NAMES_3
#define WGMMA_SUMS(s) WGMMA_64(s, 0)
#define WGMMA_ADDRESSES "mov.b64 left, %64;\nmov.b64 right, %65;\n"
#elif T_COLUMNS == 192
#define WGMMA_SIZE "m64n192"
#define WGMMA_NAMES                                                                                \
    WGMMA_NAMES_0 WGMMA_NAMES_1 WGMMA_NAMES_2 WGMMA_NAMES_3 WGMMA_NAMES_4 WGMMA_NAMES_5
#define WGMMA_SUMS(s) WGMMA_64(s, 0), WGMMA_32(s, 16)
#define WGMMA_ADDRESSES "mov.b64 left, %96;\nmov.b64 right, %97;\n"
#else
#define WGMMA_SIZE "m64n256"
#define WGMMA_NAMES                                                                                \
    WGMMA_NAMES_0 WGMMA_NAMES_1 WGMMA_NAMES_2 WGMMA_NAMES_3 WGMMA_NAMES_4 WGMMA_NAMES_5            \
    WGMMA_NAMES_6 WGMMA_NAMES_7
#define WGMMA_SUMS(s) WGMMA_64(s, 0), WGMMA_64(s, 16)
#define WGMMA_ADDRESSES "mov.b64 left, %128;\nmov.b64 right, %129;\n"
#endif

#define WGMMA_FENCE_COPIES __asm__ volatile("fence.proxy.async.shared::cta;" : : : "memory")
#define WGMMA_BEGIN __asm__ volatile("wgmma.fence.sync.aligned;" : : : "memory")
#define WGMMA_END __asm__ volatile("wgmma.commit_group.sync.aligned;" : : : "memory")
#define WGMMA_WAIT(n) __asm__ volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(n) : "memory")

/* Rows of 128 bytes whose places are turned, as the address's own bits say, and `eighth` bytes from
 * eight rows to the next. */
INLINE ulong wgmma_descriptor(const uint address, const ulong mode, const uint eighth,
                              const uint leading)
{
    return mode << 62 | (ulong)(eighth >> 4) << 32 | (ulong)(leading >> 4) << 16 |
           (address & 0x3ffff) >> 4;
}
#define WGMMA_DESCRIPTORS(left, right)                                                             \
    "l"(wgmma_descriptor(left, WGMMA_LEFT_MODE, WGMMA_LEFT_EIGHTH, WGMMA_LEFT_LEADING)),           \
        "l"(wgmma_descriptor(right, 1, 1024, WGMMA_LEADING))

/* 32 bytes of terms, or 16 terms, then the next ones. */
#define WGMMA_STEP                                                                                 \
    "wgmma.mma_async.sync.aligned." WGMMA_SIZE WGMMA_TYPES "{" WGMMA_NAMES                         \
    "}, left, right" WGMMA_FLAGS

INLINE void wgmma(ACC_T sum[T_COLUMNS / 8][4], const uint left, const uint right)
{
    __asm__ volatile("{\n.reg .b64 left, right;\n" WGMMA_ADDRESSES WGMMA_STEP WGMMA_NEXT
                     WGMMA_STEP WGMMA_NEXT_PIECE WGMMA_STEP WGMMA_NEXT WGMMA_STEP "}"
                     : WGMMA_SUMS(sum)
                     : WGMMA_DESCRIPTORS(left, right)
                     : "memory");
}

INLINE void wgmma_step(ACC_T sum[T_COLUMNS / 8][4], const uint left, const uint right)
{
    __asm__ volatile("{\n.reg .b64 left, right;\n" WGMMA_ADDRESSES WGMMA_STEP "}"
                     : WGMMA_SUMS(sum)
                     : WGMMA_DESCRIPTORS(left, right)
                     : "memory");
}

/* Barrier 0 is the group's. */
#define WGMMA_BARRIER(team) __asm__ volatile("bar.sync %0, 128;" : : "r"((team) + 1) : "memory")

INLINE void wgmma_settle(ACC_T sum[T_COLUMNS / 8][4])
{
    __asm__ volatile("" : WGMMA_SUMS(sum) : : "memory");
}
#endif
