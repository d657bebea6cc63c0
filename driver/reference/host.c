/* Tensors in host memory: conversion between storage types, seeded contents, poison. */
#include "host.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the two short floating types ---- */

static float float_from_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static float half_to_float(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ff;
    if (exponent == 0) { /* fraction * 2^-24 is a normal float */
        float f = (float)fraction * 0x1p-24f;
        return sign ? -f : f;
    }
    exponent = exponent == 31 ? 255 : exponent + 112;
    return float_from_bits(sign | exponent << 23 | fraction << 13);
}

/* Converts from double directly, so that a value is rounded once, to nearest even. */
static uint16_t shorten(double value, kiln_type type)
{
    const int width = kiln_type_exponent_bits(type), fraction_bits = kiln_type_fraction_bits(type);
    const int bias = (1 << (width - 1)) - 1;
    const uint32_t infinity = ((1u << width) - 1) << fraction_bits;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    uint64_t fraction = bits & 0xfffffffffffff;
    int exponent = (int)(bits >> 52 & 0x7ff);
    if (exponent == 0x7ff &&
        fraction) /* a NaN stays a NaN: quiet, with the upper bits of its payload */
        return (uint16_t)(sign | infinity | 1u << (fraction_bits - 1) |
                          fraction >> (52 - fraction_bits));
    if (exponent == 0) /* subnormal doubles are far below half of the smallest value */
        return sign;
    exponent += bias - 1023;
    if (exponent >= (1 << width) - 1)
        return (uint16_t)(sign | infinity);
    /* A subnormal result has its leading 1 written out and loses more bits on the right. */
    int drop = 52 - fraction_bits + (exponent < 1 ? 1 - exponent : 0);
    if (drop > 54)
        return sign;
    uint64_t wide = fraction | (uint64_t)1 << 52;
    uint64_t kept = wide >> drop, half = (uint64_t)1 << (drop - 1);
    uint64_t rest = wide & ((half << 1) - 1);
    kept += rest > half || (rest == half && (kept & 1));
    /* A normal `kept` holds the leading 1, which adds one to the exponent field; a carry out of the
     * fraction does the right thing in both cases, up to infinity. */
    uint64_t field = exponent < 1 ? 0 : (uint64_t)(exponent - 1) << fraction_bits;
    return (uint16_t)(sign | (field + kept));
}

/* ---- 8-bit floats ---- */

static double from_f8(uint8_t bits, kiln_type type)
{
    const int fraction_bits = kiln_type_fraction_bits(type);
    const int least = 2 - (1 << (kiln_type_exponent_bits(type) - 1));
    const int exponent = bits >> fraction_bits & ((1 << kiln_type_exponent_bits(type)) - 1);
    const int fraction = bits & ((1 << fraction_bits) - 1), magnitude = bits & 0x7f;
    double value = exponent ? ldexp(fraction + (1 << fraction_bits), exponent - 1) : fraction;
    value = ldexp(value, least - fraction_bits);
    if (magnitude > (type == KILN_F8E4M3 ? 0x7e : 0x7c))
        value = NAN;
    else if (type == KILN_F8E5M2 && magnitude == 0x7c)
        value = INFINITY;
    return bits & 0x80 ? -value : value;
}

/* The rounding mode is to nearest even. */
static uint8_t to_f8(double value, kiln_type type)
{
    const double most = type == KILN_F8E4M3 ? 448 : 57344, size = fmin(fabs(value), most);
    const int fraction_bits = kiln_type_fraction_bits(type);
    int exponent = 2 - (1 << (kiln_type_exponent_bits(type) - 1)), least = exponent;
    if (isnan(value))
        return 0x7f;
    if (size >= ldexp(1, least))
        exponent = ilogb(size);
    /* The leading 1 of a normal value adds 1 to the exponent, as a carry of the rounding does. */
    const int steps = (int)rint(ldexp(size, fraction_bits - exponent));
    const int code = ((exponent - least) << fraction_bits) + steps;
    return (uint8_t)(code | (signbit(value) ? 0x80 : 0));
}

/* ---- elements ---- */

double host_get(kiln_type type, const void *data, int64_t i)
{
    switch (type) {
    case KILN_F16:
        return half_to_float(((const uint16_t *)data)[i]);
    case KILN_BF16:
        return float_from_bits((uint32_t)((const uint16_t *)data)[i] << 16);
    case KILN_I8:
        return ((const int8_t *)data)[i];
    case KILN_U8:
        return ((const uint8_t *)data)[i];
    case KILN_F8E4M3:
    case KILN_F8E5M2:
        return from_f8(((const uint8_t *)data)[i], type);
    case KILN_I32:
        return ((const int32_t *)data)[i];
    default:
        return ((const float *)data)[i];
    }
}

/* A NaN becomes 0, as in OpenCL's convert_T_sat(). */
static double saturate(double value, double least, double most)
{
    if (isnan(value))
        return 0;
    return rint(fmin(fmax(value, least), most));
}

void host_set(kiln_type type, void *data, int64_t i, double value)
{
    switch (type) {
    case KILN_F16:
    case KILN_BF16:
        ((uint16_t *)data)[i] = shorten(value, type);
        break;
    case KILN_I8:
        ((int8_t *)data)[i] = (int8_t)saturate(value, INT8_MIN, INT8_MAX);
        break;
    case KILN_U8:
        ((uint8_t *)data)[i] = (uint8_t)saturate(value, 0, UINT8_MAX);
        break;
    case KILN_F8E4M3:
    case KILN_F8E5M2:
        ((uint8_t *)data)[i] = to_f8(value, type);
        break;
    case KILN_I32:
        ((int32_t *)data)[i] = (int32_t)saturate(value, INT32_MIN, INT32_MAX);
        break;
    default:
        ((float *)data)[i] = (float)value;
    }
}

double host_round(kiln_type type, double value)
{
    uint32_t room = 0;
    host_set(type, &room, 0, value);
    return host_get(type, &room, 0);
}

void host_to_float(kiln_type type, const void *data, int64_t count, float *out)
{
#pragma omp parallel for schedule(static) if (count > 100000)
    for (int64_t i = 0; i < count; i++)
        out[i] = (float)host_get(type, data, i);
}

/* ---- contents ---- */

static const char *const fill_names[] = {"miopen", "int", "uniform"};

const char *host_fill_name(host_fill fill)
{
    return (size_t)fill < sizeof fill_names / sizeof *fill_names ? fill_names[fill] : "?";
}

/* The output function of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
 * Generators, OOPSLA 2014; constants of Stafford's variant 13): a bijection that scatters a
 * counter. */
static uint64_t scatter(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static const uint64_t golden = 0x9e3779b97f4a7c15; /* 2^64 / golden ratio, odd */

uint64_t host_random(uint64_t seed, uint64_t stream, uint64_t i)
{
    uint64_t key = scatter(seed + golden * (stream + 1));
    return scatter(key + golden * (i + 1));
}

/* In [0, 1). */
static double unit(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

/* The distribution that host_fill_tensor() draws from. */
typedef struct law {
    double low, high; /* uniform in [low, high) ... */
    bool truncate;    /* ... cut to an integer, as a C cast does */
    bool ramp;        /* plus index mod 8: MIOpen's bias */
    int range;        /* > 0: instead, integers from -range to range, 0 left out ... */
    double density;   /* ... of which this share is kept, the rest replaced by 0 */
    bool positive;    /* absolute values */
} law;

/* Chooses integers so small that a sum of `terms` products stays within the range in which the
 * shortest possible destination is exact, at 8 sigma (at 4 for bytes, where saturation is
 * harmless). A sum of L products of two such numbers has a variance of L * (density * mean
 * square)^2. Long sums get few non-zero terms. */
static law integers(kiln_type type, int64_t terms)
{
    const int bits = 8 * (int)kiln_type_size(type), fraction = kiln_type_fraction_bits(type);
    const double exact = kiln_type_is_integer(type) ? ldexp(1, bits - 1) - 1 : ldexp(2, fraction);
    const double spread = fmin(0x1p16, exact) / (bits == 8 ? 4 : 8);
    double product = spread / sqrt(terms > 1 ? (double)terms : 1.0);
    for (int range = 8; range > 1; range--) {
        double square = (range + 1) * (2 * range + 1) / 6.0;
        if (0.875 * square <= product)
            return (law){.range = range, .density = 0.875};
    }
    return (law){.range = 1, .density = fmin(0.875, product)};
}

static law between(double low, double high, bool truncate)
{
    return (law){.low = low, .high = high, .truncate = truncate};
}

/* Numbers for u8, which holds none below 0. */
static law positive(host_fill fill, int tensor, int64_t terms)
{
    law l = fill == HOST_FILL_UNIFORM ? between(0, 256, true) : between(0, 255, true);
    if (fill == HOST_FILL_INT)
        l = tensor == HOST_RESIDUAL ? (law){.range = 4, .density = 0.875}
                                    : integers(KILN_I8, terms);
    l.positive = true;
    return l;
}

static law law_of(host_fill fill, int tensor, kiln_type type, int64_t terms)
{
    if (type == KILN_U8)
        return positive(fill, tensor, terms);
    const bool integer = kiln_type_is_integer(type);
    /* A hundredth of MIOpen's range would be zeros and subnormal numbers. */
    const double scale = !integer && kiln_type_size(type) == 1 ? 1 : 0.01;
    if (fill == HOST_FILL_INT) {
        if (tensor == HOST_BIAS || tensor == HOST_RESIDUAL)
            return (law){.range = 4, .density = 0.875};
        return integers(type, terms);
    }
    if (fill == HOST_FILL_UNIFORM)
        return between(integer ? -127 : -1, integer ? 128 : 1, integer);
    if (tensor == HOST_BIAS)
        return (law){.high = 1, .ramp = true};
    if (tensor == HOST_W)
        return integer            ? between(-127, 127, true)
               : type == KILN_F16 ? between(-0.01 / 3, 0.005, false)
                                  : between(-scale / 2, scale / 2, false);
    return between(0, integer ? 127 : scale, integer);
}

static double draw(const law *l, uint64_t bits, int64_t i)
{
    if (l->range) {
        /* The upper bits decide on zero, the lower on the value. */
        if (unit(bits) >= l->density)
            return 0;
        int v = (int)((bits & 0x7ff) * (uint64_t)(2 * l->range) >> 11);
        v = v < l->range ? v - l->range : v - l->range + 1;
        return l->positive ? abs(v) : v;
    }
    double v = l->low + (l->high - l->low) * unit(bits);
    if (l->truncate)
        v = trunc(v);
    return l->ramp ? v + (double)(i % 8) : v;
}

void host_fill_tensor(host_fill fill, uint64_t seed, int tensor, kiln_type type, int64_t terms,
                      void *data, int64_t count)
{
    const law l = law_of(fill, tensor, type, terms);
    const uint64_t stream = (uint64_t)tensor;
#pragma omp parallel for schedule(static) if (count > 100000)
    for (int64_t i = 0; i < count; i++)
        host_set(type, data, i, draw(&l, host_random(seed, stream, (uint64_t)i), i));
}

/* ---- poison ---- */

void host_poison(kiln_type type, void *data, int64_t count)
{
    const size_t size = kiln_type_size(type);
    const uint32_t poison = kiln_type_poison(type);
    unsigned char *to = data;
    for (int64_t i = 0; i < count; i++)
        memcpy(to + (size_t)i * size, &poison, size);
}

bool host_is_poison(kiln_type type, const void *data, int64_t i)
{
    const size_t size = kiln_type_size(type);
    const uint32_t poison = kiln_type_poison(type);
    return memcmp((const unsigned char *)data + (size_t)i * size, &poison, size) == 0;
}
