/* The loops that measure the peak rates: independent multiply-adds on registers, of floats,
 * compiled for this CPU, and of pairs of bf16. */
#include "machine.h"

#if defined __AVX512F__
enum { WIDTH = 16 };
#elif defined __AVX__
enum { WIDTH = 8 };
#else
enum { WIDTH = 4 };
#endif

typedef float vector __attribute__((vector_size(WIDTH * sizeof(float))));

/* Twelve sums hide the latency of any CPU's units and leave registers for the factors. */
#define EACH_SUM(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
enum { SUMS = 12 };

double machine_multiply_pairs(int64_t steps)
{
#ifdef __AVX512F__
    if (!__builtin_cpu_supports("avx512bf16"))
        return 0;
#define START_PAIRS(i) vector sum##i = {0};
    EACH_SUM(START_PAIRS)
    const vector a = {0};
    for (int64_t s = 0; s < steps; s++) {
#define STEP_PAIRS(i) __asm__ volatile("vdpbf16ps %1, %1, %0" : "+v"(sum##i) : "v"(a));
        EACH_SUM(STEP_PAIRS)
    }
    return 4.0 * SUMS * WIDTH * (double)steps;
#else
    (void)steps;
    return 0;
#endif
}

double machine_multiply(int64_t steps)
{
    vector a, b;
    for (int i = 0; i < WIDTH; i++) {
        a[i] = 0.999f;
        b[i] = 0.001f * (float)i;
    }
#define START(i) vector sum##i = b * (float)(i + 1);
    EACH_SUM(START)
    for (int64_t s = 0; s < steps; s++) {
#define STEP(i) sum##i = sum##i * a + b;
        EACH_SUM(STEP)
    }
    vector all = a;
#define ADD(i) all += sum##i;
    EACH_SUM(ADD)
    volatile float used = all[0];
    (void)used;
    return 2.0 * SUMS * WIDTH * (double)steps;
}
