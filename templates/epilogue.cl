/* epilogue.cl: the result of a sum: activation(alpha * sum + beta * residual + bias).
 *
 * Defines (made by kiln_define_epilogue()):
 *   P_BIAS=1, P_ALPHA, P_BETA, P_ACTIVATION, P_ACTIVATION_A, P_ACTIVATION_B
 *   D_CURVE=1      the code of the activation is long
 *   D_IMAGE=1      the residual is an image; image.cl has the rest
 *   D_BIAS_IMAGE=1 the bias is an image (k / 4, 0), lane k % 4; with D_IMAGE only
 *
 * What templates use:
 *   EPILOGUE_PARAMS, EPILOGUE_PASS    last in a parameter list, last in a call's (no comma before)
 *   FINISH(acc, channel, i)           VAL_T for destination element i of that channel
 *   EACH_RESULT                       before a loop over results: unrolls it, unless the activation
 *                                     is a curve, whose code is long
 */
#include "types.cl"

#ifdef P_BIAS
#ifdef D_BIAS_IMAGE
#define KILN_BIAS_PARAM , read_only image2d_t bias
#else
#define KILN_BIAS_PARAM , global const float *bias
#endif
#define KILN_BIAS_PASS , bias
#else
#define KILN_BIAS_PARAM
#define KILN_BIAS_PASS
#endif

/* The residual may be the destination itself: it has no restrict, and is read before the store. */
#ifdef P_BETA
#ifdef D_IMAGE
#define KILN_RESIDUAL_PARAM , read_only image2d_t residual
#else
#define KILN_RESIDUAL_PARAM , global const DST_T *residual
#endif
#define KILN_RESIDUAL_PASS , residual
#else
#define KILN_RESIDUAL_PARAM
#define KILN_RESIDUAL_PASS
#endif

#define EPILOGUE_PARAMS KILN_BIAS_PARAM KILN_RESIDUAL_PARAM
#define EPILOGUE_PASS KILN_BIAS_PASS KILN_RESIDUAL_PASS

#ifndef P_ACTIVATION
#define P_ACTIVATION 0
#endif

/* A formula for each number of kiln_activation; T is the type of v, P_ACTIVATION_A and
 * P_ACTIVATION_B are the parameters. A NaN stays a NaN: fmax and fmin would replace it by their
 * other argument, while a comparison with it is false and so keeps v. */
#define KILN_ACTIVATION_0(T, v) (v)
#define KILN_ACTIVATION_1(T, v) (v < (T)(0) ? (T)(0) : v)
#define KILN_ACTIVATION_2(T, v)                                                                    \
    (v < (T)(0) ? (T)(0) : v > (T)(P_ACTIVATION_A) ? (T)(P_ACTIVATION_A) : v)
#define KILN_ACTIVATION_3(T, v) (v >= 0 ? v : P_ACTIVATION_A * v)
#define KILN_ACTIVATION_4(T, v) (v >= 0 ? v : P_ACTIVATION_A * expm1(v))
#define KILN_ACTIVATION_5(T, v) (P_ACTIVATION_B * tanh(P_ACTIVATION_A * v))
#define KILN_ACTIVATION_6(T, v) (1.0f / (1.0f + exp(-v)))
#define KILN_ACTIVATION_7(T, v) (v / (1.0f + exp(-v)))
/* erfc: no cancellation where v is far below 0. */
#define KILN_ACTIVATION_8(T, v) (0.5f * v * erfc(v * -0.70710678f))
#define KILN_BETWEEN(T, least, v, most)                                                            \
    (v < (T)(least) ? (T)(least) : v > (T)(most) ? (T)(most) : v)
#define KILN_LINE(v) (P_ACTIVATION_A * v + P_ACTIVATION_B)
#define KILN_ACTIVATION_9(T, v) (KILN_BETWEEN(T, 0, KILN_LINE(v), 1))
#define KILN_ACTIVATION_10(T, v) (v * KILN_BETWEEN(T, 0, KILN_LINE(v), 1))
#define KILN_ACTIVATION_11(T, v) (KILN_BETWEEN(T, P_ACTIVATION_A, v, P_ACTIVATION_B))
/* tanh(log(1 + e)) = e (e + 2) / (e (e + 2) + 2): where e overflows, v is divided by 1. */
#define KILN_ACTIVATION_12(T, v) (v / (1.0f + 2.0f / (exp(v) * (exp(v) + 2.0f))))
#define KILN_ACTIVATION_13(T, v) (exp(v))
#define KILN_ACTIVATION_14(T, v) (fabs(v))
#define KILN_ACTIVATION_15(T, v) (v * v)
/* exp of what is not above 0 does not overflow. */
#define KILN_ACTIVATION_16(T, v)                                                                   \
    ((P_ACTIVATION_A * v < (T)(0) ? (T)(0) : v) +                                                  \
     log1p(exp(-fabs(P_ACTIVATION_A * v))) / P_ACTIVATION_A)
#define KILN_ACTIVATION(T, v) KILN_CAT(KILN_ACTIVATION_, P_ACTIVATION)(T, v)

#ifdef D_CURVE
#define EACH_RESULT _Pragma("nounroll")
#else
#define EACH_RESULT UNROLL
#endif

/* v = alpha * v + beta * old + bias, of floats or vectors of them. Terms that the epilogue lacks
 * are not computed. */
#ifdef P_ALPHA
#define KILN_SCALE(v) v *= P_ALPHA
#else
#define KILN_SCALE(v)
#endif
#ifdef P_BETA
#define KILN_ADD_OLD(v, old) v += P_BETA * (old)
#else
#define KILN_ADD_OLD(v, old)
#endif
#ifdef P_BIAS
#define KILN_ADD_BIAS(v, bias) v += (bias)
#else
#define KILN_ADD_BIAS(v, bias)
#endif
#define KILN_SCALE_AND_ADD(v, old, bias)                                                           \
    KILN_SCALE(v);                                                                                 \
    KILN_ADD_OLD(v, old);                                                                          \
    KILN_ADD_BIAS(v, bias)

/* The activation as a function of T: float or a vector of them. */
#define KILN_DEFINE_ACTIVATE(name, T)                                                              \
    static inline T name(T v)                                                                      \
    {                                                                                              \
        return KILN_ACTIVATION(T, v);                                                              \
    }
KILN_DEFINE_ACTIVATE(kiln_activate, float)

#ifndef D_IMAGE
static inline VAL_T kiln_finish(ACC_T acc, INDEX_T channel, INDEX_T i EPILOGUE_PARAMS)
{
#if DST_TYPE == TYPE_I32
    return acc;
#else
    float v = (float)acc;
    KILN_SCALE_AND_ADD(v, DST_LOAD(residual, i), bias[channel]);
    return kiln_activate(v);
#endif
}

#define FINISH(acc, channel, i) kiln_finish(acc, channel, i EPILOGUE_PASS)
#endif
