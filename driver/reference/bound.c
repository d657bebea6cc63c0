/* A-priori error bounds of sums of products in f32, and of what the epilogue does with them.
 *
 * u = 2^-24 is the unit roundoff of f32, L the number of terms, M the sum of their absolute values
 * (or a little more). Whatever the order of summation, fused or not,
 *
 *     |error| <= L u M                                   (to first order)
 *
 * (Higham: Accuracy and Stability of Numerical Algorithms, 2nd ed., sections 3.1 and 4.2). The
 * error reaches this bound when all roundings go the same way, as they do on constant data, so it
 * is the bound for data of unknown origin. It is also so wide that a product left out of a long sum
 * goes unnoticed.
 *
 * The rounding errors of random data are independent and of mean zero: they add up as the root of
 * the sum of their squares (Higham and Mary: A New Approach to Probabilistic Rounding Error
 * Analysis, 2019). One rounding errs by at most u times the partial sum at hand. A partial sum of i
 * terms is about i/L of the sum S; it is off that by a random walk whose steps are the root mean
 * square of the products, at most M / L where M is the Cauchy-Schwarz magnitude. So the partial sum
 * is at most |S| i/L + sqrt(i) M/L. The root of the sum of squares over i is
 * sqrt(L/3) |S| + M / sqrt(2). The standard deviation of a rounding is at most 1/sqrt(3) of its
 * limit, so that of the sum is below u (sqrt(L) |S| / 3 + 0.41 M). The bound takes 12 times the
 * first term and 19 times the second:
 *
 *     |error| <= u (4 sqrt(L) |S| + 8 M)
 *
 * The worst of 10^9 elements is about 6 standard deviations off.
 */
#include "bound.h"

#include "activation.h"

#include <math.h>

static const double unit = 0x1p-24;
static const double tiny = 0x1p-126; /* below this, a device may flush a float to zero, be it a
                                        result or a factor */

static double sum_error(const bound_rule *r, double sum, double magnitude)
{
    if (r->integer) /* the accumulator is exact; its conversion to a float rounds once */
        return fabs(sum) > 0x1p24 ? unit * fabs(sum) : 0;
    double m = fmax(magnitude, r->floor), worst = (r->terms + 1) * m;
    double likely = 4 * sqrt(r->terms) * fabs(sum) + 8 * m;
    double reference = (r->terms + 16) * 0x1p-53 * magnitude;
    return unit * r->amplification * (r->arbitrary ? worst : fmin(worst, likely)) + reference +
           (r->terms * fmax(1, r->largest) + 4) * tiny;
}

/* Whether an exact sum becomes the result by at most one rounding, that to the destination's type:
 * the result of i32, which is not converted at all, and of f32, where the epilogue has only
 * comparisons. */
static bool is_rounded_once(const bound_rule *r, double factor, double added)
{
    const kiln_epilogue *e = r->epilogue;
    return r->integer && added == 0 && (!e || (activation_compares(e) && factor == 1));
}

double bound_error(const bound_rule *r, double factor, double sum, double magnitude, double added,
                   double value)
{
    if (is_rounded_once(r, factor, added))
        return 0;
    double error = sum_error(r, sum, magnitude);
    const kiln_epilogue *e = r->epilogue;
    if (!e)
        return error;
    double alpha = fabs(factor), argument = alpha * fabs(sum) + added;
    error *= alpha;
    if (alpha != 1 || added != 0) /* at most six more roundings */
        error += 6 * unit * (argument + error);
    const activation_error a = activation_error_of(e, value, error);
    error = a.slope * error + unit * (a.of_result * fabs(value) + a.of_argument * argument);
    /* exp(-v) overflows where silu is still as large as v * tiny. */
    return e->activation == KILN_IDENTITY ? error : error + (4 + 2 * argument) * tiny;
}

double bound_ulp(kiln_type type, double value)
{
    if (kiln_type_is_integer(type))
        return 1;
    /* The exponent of the smallest normal value. */
    const int least = 2 - (1 << (kiln_type_exponent_bits(type) - 1));
    int exponent;
    frexp(value, &exponent); /* value = f * 2^exponent, 1/2 <= |f| < 1 */
    exponent--;
    if (value == 0 || exponent < least)
        exponent = least;
    return ldexp(1, exponent - kiln_type_fraction_bits(type));
}
