/* A line for each activation: its formula and its error. */
#include "activation.h"

#include <math.h>

static double between(double least, double v, double most)
{
    return v < least ? least : v > most ? most : v;
}

/* X(id, value, slope, error of the result, error of the argument), of v and the parameters a and b;
 * the slope is also one of the result y and of d, the error of the argument.
 * The limits of the functions are those of OpenCL 1.2, table 7.1: exp and expm1 3 ulp, log1p 2,
 * tanh 5, erf 16, division 2.5; an ulp is at most 2 u. fmax() and fmin() would hide a NaN. 1 +
 * erf(z) is erfc(-z), without cancellation; a device's 1 + erf cancels, so that the error of gelu
 * goes with the argument. a v + b of the hard ones cancels, too, where |a v| is at most 1 + |b|.
 * exp(700) is beyond every type, and still finite here, as slack must be. A square may have twice
 * the bits of its argument, so that it never counts as one product.
 */
#define ACTIVATIONS(X)                                                                             \
    X(IDENTITY, v, 1, 0, 0)                                                                        \
    X(RELU, v < 0 ? 0 : v, 1, 0, 0)                                                                \
    X(CLIPPED_RELU, v<0 ? 0 : v> a ? a : v, 1, 0, 0)                                               \
    X(LEAKY_RELU, v >= 0 ? v : a * v, fmax(1, fabs(a)), 1, 0)                                      \
    X(ELU, v >= 0 ? v : a * expm1(v), fmax(1, fabs(a)), 8, 0)                                      \
    X(TANH, b *tanh(a *v), fabs(a *b), 14, 0)                                                      \
    X(SIGMOID, 1 / (1 + exp(-v)), 0.25, 16, 0)                                                     \
    X(SILU, v / (1 + exp(-v)), 1.1, 16, 0)                                                         \
    X(GELU, 0.5 * v * erfc(-v * M_SQRT1_2), 1.13, 4, 20)                                           \
    X(HARD_SIGMOID, between(0, a *v + b, 1), fabs(a), 2, fabs(a))                                  \
    X(HARD_SWISH, v *between(0, a *v + b, 1), fmax(1, fmax(fabs(b), fabs(2 - b))), 3, 1 + fabs(b)) \
    X(HARD_TANH, between(a, v, b), 1, 0, 0)                                                        \
    X(MISH, v *tanh(log1p(exp(v))), 1.1, 28, 0)                                                    \
    X(EXP, exp(v > 700 ? 700 : v), fabs(y) * exp(fmin(d, 700)), 8, 0)                              \
    X(ABS, fabs(v), 1, 0, 0)                                                                       \
    X(SQUARE, v *v, 2 * (sqrt(fabs(y)) + d), 2, 0)                                                 \
    X(SOFTPLUS, (a * v < 0 ? 0 : v) + log1p(exp(-fabs(a * v))) / a, 1, 18, a == 1 ? 0 : 1)

double activation_value(const kiln_epilogue *e, double v)
{
    const double a = e->param[0], b = e->param[1];
    switch (e->activation) {
#define VALUE(id, value, slope, of_result, of_argument)                                            \
    case KILN_##id:                                                                                \
        return value;
        ACTIVATIONS(VALUE)
    }
    return NAN;
}

activation_error activation_error_of(const kiln_epilogue *e, double y, double d)
{
    const double a = e->param[0], b = e->param[1];
    switch (e->activation) {
#define ERROR(id, value, slope, of_result, of_argument)                                            \
    case KILN_##id:                                                                                \
        return (activation_error){slope, of_result, of_argument};
        ACTIVATIONS(ERROR)
    }
    return (activation_error){NAN, 0, 0};
}

bool activation_compares(const kiln_epilogue *e)
{
    const activation_error error = activation_error_of(e, 0, 0);
    return error.of_result == 0 && error.of_argument == 0;
}

bool activation_multiplies(const kiln_epilogue *e)
{
    const activation_error error = activation_error_of(e, 0, 0);
    return error.of_result <= 1 && error.of_argument == 0;
}
