/* Integer arithmetic that planning needs everywhere. */
#ifndef KILN_INTEGERS_H
#define KILN_INTEGERS_H

#include <stdint.h>

/* Returns the least integer that is not below a / b, for any a and b > 0. */
static inline int64_t divide_up(int64_t a, int64_t b)
{
    return a > 0 ? (a - 1) / b + 1 : -(-a / b);
}

/* Returns the greatest integer that is not above a / b, for any a and b > 0. */
static inline int64_t divide_down(int64_t a, int64_t b)
{
    return -divide_up(-a, b);
}

/* Returns the least multiple of b that is not below a. */
static inline int64_t round_up(int64_t a, int64_t b)
{
    return divide_up(a, b) * b;
}

static inline int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Returns the greatest common divisor of two integers that are not negative. */
static inline int64_t gcd(int64_t a, int64_t b)
{
    return b ? gcd(b, a % b) : a;
}

/* Returns a * b of integers that are not negative, or 2^60, more than any memory holds, if the
 * product is larger. */
static inline int64_t product_of(int64_t a, int64_t b)
{
    const int64_t most = (int64_t)1 << 60;
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) || product > most ? most : product;
}

#endif
