/* A line for each activation: its formula and its error. */
#include "activation.h"

#include <math.h>

/* X(id, value, slope, error of the result, error of the argument), of v and the parameters a and b.
 * The limits of the functions are those of OpenCL 1.2, table 7.1: exp and expm1 3 ulp, tanh 5, erf
 * 16, division 2.5; an ulp is at most 2 u. fmax() and fmin() would hide a NaN. 1 + erf(z) is
 * erfc(-z), without cancellation; a device's 1 + erf cancels, so that the error of gelu goes with
 * the argument.
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
    X(GELU, 0.5 * v * erfc(-v * M_SQRT1_2), 1.13, 4, 20)

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

activation_error activation_error_of(const kiln_epilogue *e)
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
    const activation_error error = activation_error_of(e);
    return error.of_result == 0 && error.of_argument == 0;
}

bool activation_multiplies(const kiln_epilogue *e)
{
    const activation_error error = activation_error_of(e);
    return error.of_result <= 1 && error.of_argument == 0;
}
