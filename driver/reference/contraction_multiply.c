/* The innermost loop of a contraction, compiled for each kind of vector that an x86 may have. */
#include "contraction_multiply.h"

typedef double eight __attribute__((vector_size(64)));

static inline __attribute__((always_inline)) void multiply_body(int depth, const double *quad,
                                                                const double *terms, double *sum)
{
    const eight *b = (const eight *)terms;
    eight s00 = {0}, s01 = {0}, s10 = {0}, s11 = {0}, s20 = {0}, s21 = {0}, s30 = {0}, s31 = {0};
    for (int t = 0; t < depth; t++, quad += QUAD, b += 2) {
        s00 += quad[0] * b[0];
        s01 += quad[0] * b[1];
        s10 += quad[1] * b[0];
        s11 += quad[1] * b[1];
        s20 += quad[2] * b[0];
        s21 += quad[2] * b[1];
        s30 += quad[3] * b[0];
        s31 += quad[3] * b[1];
    }
    eight *to = (eight *)sum;
    const int next = BLOCK / 8;
    to[0] += s00, to[1] += s01;
    to[next] += s10, to[next + 1] += s11;
    to[2 * next] += s20, to[2 * next + 1] += s21;
    to[3 * next] += s30, to[3 * next + 1] += s31;
}

static void multiply_plain(int depth, const double *quad, const double *terms, double *sum)
{
    multiply_body(depth, quad, terms, sum);
}

#ifdef __x86_64__
/* Compilers take vectors of 512 bits for slow and halve them, unless told otherwise. */
#ifdef __clang__
#define WIDE __attribute__((target("avx512f"), min_vector_width(512)))
#else
#define WIDE __attribute__((target("avx512f,prefer-vector-width=512")))
#endif

__attribute__((target("avx2,fma"))) static void multiply_avx2(int depth, const double *quad,
                                                              const double *terms, double *sum)
{
    multiply_body(depth, quad, terms, sum);
}

WIDE static void multiply_avx512(int depth, const double *quad, const double *terms, double *sum)
{
    multiply_body(depth, quad, terms, sum);
}
#endif

contraction_multiply *contraction_multiply_here(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f"))
        return multiply_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return multiply_avx2;
#endif
    return multiply_plain;
}
