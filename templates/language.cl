/* language.cl: short words for what OpenCL C says at length, or not at all.
 *
 *   KILN_CAT(a, b)         a and b, their values, made one word
 *   GROUP_SIZE(x, y, z)    the work-groups of a kernel
 *   INLINE                 of a function: whatever the compiler thinks of it
 *   UNROLL                 before a loop that is to be unrolled
 *   LANES(n)               0, 1, 2, ... as a vector of n ints: 4, 8 or 16
 */
#define KILN_CAT_(a, b) a##b
#define KILN_CAT(a, b) KILN_CAT_(a, b)

#define GROUP_SIZE(x, y, z) __attribute__((reqd_work_group_size(x, y, z)))
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("unroll")

#define LANES_4 (int4)(0, 1, 2, 3)
#define LANES_8 (int8)(0, 1, 2, 3, 4, 5, 6, 7)
#define LANES_16 (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define LANES(n) KILN_CAT(LANES_, n)
