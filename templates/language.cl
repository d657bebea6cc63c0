/* language.cl: short words for longer ones of OpenCL C, and for what it lacks.
 *
 *   KILN_CAT(a, b)         the values of macros a and b as one word
 *   GROUP_SIZE(x, y, z)    the work-groups of a kernel
 *   INLINE                 before a function that the compiler must inline
 *   UNROLL                 before a loop that the compiler must unroll
 *   LANES(n)               0, 1, 2, ... as a vector of n ints: 4, 8 or 16
 *   KILN_SHUFFLE(n, a, b, lanes)
 *                          n lanes of vectors a and b; lanes of b are counted from n on. `lanes` is
 *                          a macro that stands for constants
 *   EVENS(n)               such lanes: every other lane of both
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

/* The builtin keeps a CPU's compiler from taking the shuffles apart. */
#define KILN_SHUFFLE(n, a, b, lanes) shuffle2(a, b, (KILN_CAT(uint, n))(lanes))
#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)
#undef KILN_SHUFFLE
#define KILN_SHUFFLE(n, a, b, lanes) __builtin_shufflevector(a, b, lanes)
#endif
#endif

#define EVENS_4 0, 2, 4, 6
#define EVENS_8 0, 2, 4, 6, 8, 10, 12, 14
#define EVENS_16 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define EVENS(n) KILN_CAT(EVENS_, n)
