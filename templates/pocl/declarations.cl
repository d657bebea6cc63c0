/* declarations.cl: the functions of OpenCL C that kiln's templates call, for PoCL's CPU device.
 *
 * Before each program PoCL's compiler reads Clang's opencl-c.h, which declares every function for
 * every type in 18000 lines: more work than most of kiln's programs. The runtime puts this file
 * before a program instead and defines _OPENCL_H_, which makes opencl-c.h empty. A program that
 * calls another function does not compile like that; the runtime then compiles it with opencl-c.h
 * (runtime/programs/program_build.c).
 *
 * A function that a template calls and that is missing here costs each of its programs two
 * compilations: add it. Attributes are the ones that functions have by their meaning: `const` for
 * one that reads no memory, `pure` for one that only reads.
 */
/* Clang warns of each function that takes or returns a vector wider than the CPU's, since code for
 * a wider CPU would pass it in another way. A program is compiled for one CPU, and PoCL would count
 * these warnings on the terminal. */
#pragma clang diagnostic ignored "-Wpsabi"

#define OVERLOAD __attribute__((overloadable))
#define CONST __attribute__((overloadable, const))
#define PURE __attribute__((overloadable, pure))

/* NARROW tells whether a program may use numbers of less than four bytes: those whose tensors are
 * all of floats do not, and half of the declarations are left out. (The options name the types;
 * what the names stand for comes later, in types.cl.) */
#define ONLY_TYPE_F32 1
#define ONLY_(type) ONLY_##type
#define ONLY(type) ONLY_(type)
#define NARROW !(ONLY(SRC_TYPE) && ONLY(DST_TYPE))

/* ---- the grid ---- */

size_t CONST get_global_id(uint);
size_t CONST get_global_size(uint);
size_t CONST get_local_id(uint);
size_t CONST get_local_size(uint);
size_t CONST get_group_id(uint);
size_t CONST get_num_groups(uint);
void OVERLOAD __attribute__((convergent)) barrier(cl_mem_fence_flags);

/* ---- numbers ---- */

#define EACH_COUNT(DECLARE, T)                                                                     \
    DECLARE(T, )                                                                                   \
    DECLARE(T, 2)                                                                                  \
    DECLARE(T, 4)                                                                                  \
    DECLARE(T, 8)                                                                                  \
    DECLARE(T, 16)

#define DECLARE_LIMITS(T, n)                                                                       \
    T##n CONST min(T##n, T##n);                                                                    \
    T##n CONST max(T##n, T##n);                                                                    \
    T##n CONST clamp(T##n, T##n, T##n);
EACH_COUNT(DECLARE_LIMITS, int)
EACH_COUNT(DECLARE_LIMITS, uint)
EACH_COUNT(DECLARE_LIMITS, float)
DECLARE_LIMITS(long, )
DECLARE_LIMITS(ulong, )
#if NARROW
EACH_COUNT(DECLARE_LIMITS, char)
EACH_COUNT(DECLARE_LIMITS, short)
DECLARE_LIMITS(uchar, )
DECLARE_LIMITS(ushort, )
#endif

#define DECLARE_FLOAT(T, n)                                                                        \
    T##n CONST exp(T##n);                                                                          \
    T##n CONST expm1(T##n);                                                                        \
    T##n CONST fabs(T##n);                                                                         \
    T##n CONST log1p(T##n);                                                                        \
    T##n CONST tanh(T##n);                                                                         \
    T##n CONST erfc(T##n);                                                                         \
    T##n CONST rint(T##n);                                                                         \
    T##n CONST fma(T##n, T##n, T##n);                                                              \
    int##n CONST isequal(T##n, T##n);                                                              \
    T##n CONST select(T##n, T##n, int##n);                                                         \
    T##n CONST select(T##n, T##n, uint##n);
EACH_COUNT(DECLARE_FLOAT, float)

#define DECLARE_SELECT(T, n) T##n CONST select(T##n, T##n, T##n);
EACH_COUNT(DECLARE_SELECT, int)
#if NARROW
EACH_COUNT(DECLARE_SELECT, short)
EACH_COUNT(DECLARE_SELECT, char)
#endif

#define DECLARE_SHUFFLE(T, n, m) T##n CONST shuffle(T##m, uint##n);
DECLARE_SHUFFLE(float, 4, 4)
DECLARE_SHUFFLE(float, 8, 8)
DECLARE_SHUFFLE(float, 16, 16)
DECLARE_SHUFFLE(int, 4, 4)
DECLARE_SHUFFLE(int, 8, 8)
DECLARE_SHUFFLE(int, 16, 16)

/* ---- conversions ---- */

#define DECLARE_CONVERT(TO, n, FROM) TO##n CONST convert_##TO##n(FROM##n);
#define DECLARE_WIDE_CONVERTS(FROM, n)                                                             \
    DECLARE_CONVERT(int, n, FROM)                                                                  \
    DECLARE_CONVERT(uint, n, FROM)                                                                 \
    DECLARE_CONVERT(float, n, FROM)
EACH_COUNT(DECLARE_WIDE_CONVERTS, int)
EACH_COUNT(DECLARE_WIDE_CONVERTS, uint)
EACH_COUNT(DECLARE_WIDE_CONVERTS, float)
#if NARROW
#define DECLARE_NARROW_CONVERTS(FROM, n)                                                           \
    DECLARE_CONVERT(char, n, FROM)                                                                 \
    DECLARE_CONVERT(uchar, n, FROM)                                                                \
    DECLARE_CONVERT(short, n, FROM)                                                                \
    DECLARE_CONVERT(ushort, n, FROM)
#define DECLARE_CONVERTS(FROM, n)                                                                  \
    DECLARE_WIDE_CONVERTS(FROM, n)                                                                 \
    DECLARE_NARROW_CONVERTS(FROM, n)
EACH_COUNT(DECLARE_CONVERTS, char)
EACH_COUNT(DECLARE_CONVERTS, uchar)
EACH_COUNT(DECLARE_CONVERTS, short)
EACH_COUNT(DECLARE_CONVERTS, ushort)
EACH_COUNT(DECLARE_NARROW_CONVERTS, int)
EACH_COUNT(DECLARE_NARROW_CONVERTS, uint)
EACH_COUNT(DECLARE_NARROW_CONVERTS, float)

#define DECLARE_ROUNDED(T, n)                                                                      \
    char##n CONST convert_char##n##_sat_rte(T##n);                                                 \
    uchar##n CONST convert_uchar##n##_sat_rte(T##n);                                               \
    int##n CONST convert_int##n##_sat_rte(T##n);                                                   \
    float##n CONST convert_float##n##_rtz(T##n);
EACH_COUNT(DECLARE_ROUNDED, float)
EACH_COUNT(DECLARE_ROUNDED, int)
#endif

/* ---- memory ---- */

#define DECLARE_LOADS(T, n)                                                                        \
    T##n PURE vload##n(size_t, const global T *);                                                  \
    T##n PURE vload##n(size_t, const local T *);                                                   \
    T##n PURE vload##n(size_t, const private T *);
#define DECLARE_STORES(T, n)                                                                       \
    void OVERLOAD vstore##n(T##n, size_t, global T *);                                             \
    void OVERLOAD vstore##n(T##n, size_t, local T *);                                              \
    void OVERLOAD vstore##n(T##n, size_t, private T *);
#define DECLARE_MEMORY(T)                                                                          \
    DECLARE_LOADS(T, 2)                                                                            \
    DECLARE_LOADS(T, 4)                                                                            \
    DECLARE_LOADS(T, 8)                                                                            \
    DECLARE_LOADS(T, 16)                                                                           \
    DECLARE_STORES(T, 2)                                                                           \
    DECLARE_STORES(T, 4)                                                                           \
    DECLARE_STORES(T, 8)                                                                           \
    DECLARE_STORES(T, 16)
DECLARE_MEMORY(int)
DECLARE_MEMORY(uint)
DECLARE_MEMORY(float)
#if NARROW
DECLARE_MEMORY(char)
DECLARE_MEMORY(uchar)
DECLARE_MEMORY(short)
DECLARE_MEMORY(ushort)

#define DECLARE_HALF(T, n)                                                                         \
    T##n PURE vload_half##n(size_t, const global half *);                                          \
    T##n PURE vload_half##n(size_t, const private half *);                                         \
    void OVERLOAD vstore_half##n##_rte(T##n, size_t, global half *);                               \
    void OVERLOAD vstore_half##n##_rte(T##n, size_t, private half *);
EACH_COUNT(DECLARE_HALF, float)
#endif

int OVERLOAD atomic_add(volatile global int *, int);
int OVERLOAD atomic_inc(volatile global int *);
uint OVERLOAD atomic_cmpxchg(volatile global uint *, uint, uint);

/* ---- images ---- */

float4 PURE read_imagef(read_only image2d_t, sampler_t, int2);
int4 PURE read_imagei(read_only image2d_t, sampler_t, int2);
void OVERLOAD write_imagef(write_only image2d_t, int2, float4);
void OVERLOAD write_imagei(write_only image2d_t, int2, int4);

#undef OVERLOAD
#undef CONST
#undef PURE
