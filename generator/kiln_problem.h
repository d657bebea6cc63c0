/* The convolution problem as a plain value: the one thing that driver, library and tuner pass
 * around.
 *
 * Fill a `kiln_problem` with a designated initializer; every field left at zero takes the default
 * written beside it. Check and complete it with kiln_problem_check(), or hand it to
 * kiln_conv_create() (kiln.h), which does so itself.
 *
 *     kiln_problem p = {.batch = 16, .in_channels = 192, .out_channels = 64,
 *                       .input = {28, 28}, .filter = {1, 1}};
 *
 * Shapes. With spatial rank 2, input = {H, W}; rank 1, {W}; rank 3, {D, H, W}; the same for every
 * other spatial array.
 *
 *     convolution   x [N][C][in...]   w [K][C/g][filter...]   y [N][K][out...]
 *                   out = (in + pad_begin + pad_end - ((filter - 1) * dilation + 1)) / stride + 1
 *     transposed    x [N][C][in...]   w [C][K/g][filter...]   y [N][K][out...]
 *                   out = stride * (in - 1) + (filter - 1) * dilation + 1
 *                         - pad_begin - pad_end + output_pad
 *
 * The filter is not flipped (cross-correlation), as in every deep-learning library.
 *
 * Directions, written for x, w, y above and their gradients dx, dw, dy:
 *     KILN_FORWARD            reads x, w    writes y
 *     KILN_BACKWARD_DATA      reads dy, w   writes dx
 *     KILN_BACKWARD_WEIGHTS   reads x, dy   writes dw (and db, when epilogue.bias is set)
 *
 * Epilogue (forward only): y = activation(alpha * conv(x, w) + beta * residual + bias[k]).
 *
 * Quantised tensors (forward only, kiln_quant): with x, w and y that stand for x_scale * (x -
 * x_zero) and so on,
 *
 *     sum = sum of (x - x_zero) * (w - w_zero), padding left out; + bias[k] where that is i32
 *     v   = alpha * x_scale * w_scale * w_scales[k] * sum + bias[k] + residual, then the activation
 *     y   = v / y_scale, rounded to nearest even, + y_zero, saturated
 */
#ifndef KILN_PROBLEM_H
#define KILN_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef KILN_API
#define KILN_API __attribute__((visibility("default")))
#endif

/* Every status of the library: X(name, value, text). Values are stable. */
#define KILN_STATUS_MAP(X)                                                                         \
    X(KILN_OK, 0, "success")                                                                       \
    X(KILN_WRONG, 1, "wrong result")                                                               \
    X(KILN_INVALID, 2, "invalid argument")                                                         \
    X(KILN_UNSUPPORTED, 3, "unsupported")                                                          \
    X(KILN_OPENCL, 4, "OpenCL error")                                                              \
    X(KILN_FILE, 5, "file error")                                                                  \
    X(KILN_NO_MEMORY, 6, "out of memory")

typedef enum kiln_status {
#define KILN_STATUS_ENUM(name, value, text) name = value,
    KILN_STATUS_MAP(KILN_STATUS_ENUM)
#undef KILN_STATUS_ENUM
} kiln_status;

typedef enum kiln_direction {
    KILN_FORWARD = 0,
    KILN_BACKWARD_DATA,
    KILN_BACKWARD_WEIGHTS
} kiln_direction;

/* Storage types. Floating types accumulate in f32. Sums of i8 are exact: an i32 is the sum modulo
 * 2^32, and every other type is made from the whole sum, which is more than 32 bits hold from
 * 131,072 products on. Sums of u8 x and sums of quantised tensors are kept in 32 bits, modulo 2^32,
 * whatever is made of them. */
typedef enum kiln_type {
    KILN_TYPE_DEFAULT = 0,
    KILN_F32,
    KILN_F16,  /* IEEE binary16 */
    KILN_BF16, /* upper half of an f32, round to nearest even */
    KILN_I8,
    KILN_I32,    /* destination of an i8 convolution only */
    KILN_F8E4M3, /* OCP's 8-bit floats: e4m3 without infinities, up to 448; e5m2 with them, up to */
    KILN_F8E5M2, /* 57344. Round to nearest even; what is larger, infinities too, saturates */
    KILN_U8      /* x of a forward pass with w of i8, its y, its residual */
} kiln_type;
enum { KILN_TYPES = KILN_U8 + 1 }; /* numbers of types are below this */

/* a and b are epilogue.param[0] and [1]; where all parameters of an activation are 0, they become
 * the usual ones, which stand behind it. A NaN stays a NaN through all of them. The definitions
 * from hard_sigmoid on are those of oneDNN's eltwise and of ONNX, whose HardSigmoid has a = 0.2
 * unless a node says it; hard_tanh is PyTorch's Hardtanh, oneDNN's clip. */
typedef enum kiln_activation {
    KILN_IDENTITY = 0,
    KILN_RELU,         /* max(v, 0) */
    KILN_CLIPPED_RELU, /* min(max(v, 0), a), a > 0; usually a = 6 */
    KILN_LEAKY_RELU,   /* v >= 0 ? v : a * v; usually a = 0.01 */
    KILN_ELU,          /* v >= 0 ? v : a * (exp(v) - 1); usually a = 1 */
    KILN_TANH,         /* b * tanh(a * v); usually a = b = 1 */
    KILN_SIGMOID,      /* 1 / (1 + exp(-v)) */
    KILN_SILU,         /* v / (1 + exp(-v)) */
    KILN_GELU,         /* v * (1 + erf(v / sqrt(2))) / 2 */
    KILN_HARD_SIGMOID, /* min(max(a * v + b, 0), 1); usually a = 1/6, b = 1/2 */
    KILN_HARD_SWISH,   /* v * min(max(a * v + b, 0), 1); usually a = 1/6, b = 1/2 */
    KILN_HARD_TANH,    /* min(max(v, a), b), a < b; usually a = -1, b = 1 */
    KILN_MISH,         /* v * tanh(log(1 + exp(v))) */
    KILN_EXP,          /* exp(v) */
    KILN_ABS,          /* |v| */
    KILN_SQUARE,       /* v * v */
    KILN_SOFTPLUS      /* log(1 + exp(a * v)) / a; usually a = 1 */
} kiln_activation;
enum { KILN_ACTIVATIONS = KILN_SOFTPLUS + 1 }; /* numbers of activations are below this */

typedef struct kiln_epilogue {
    /* A kiln_type: 1 or KILN_F32: add bias[k]; other floats: the same, stored like that; KILN_I32,
     * with x of i8 or u8: add bias[k] to the sum, before any scale. In KILN_BACKWARD_WEIGHTS,
     * KILN_F32 only: also write db[k]. */
    int bias;
    float alpha; /* factor of the convolution (the scale, for an i8 destination); 0 = 1 */
    float beta;  /* factor of the residual tensor, shaped and typed as y; 0 = no residual */
    kiln_activation activation;
    float param[2];
} kiln_epilogue;

/* How a sum becomes an integer. The fixed-point forms are those of TFLite: the i32 sum is
 * multiplied by an i32 that stands for a fraction of 2^31, and shifted; results are the same bits
 * everywhere. */
typedef enum kiln_rounding {
    KILN_ROUND_F32 = 0,     /* by factors in f32, to nearest even */
    KILN_ROUND_FIXED_TWICE, /* the high half of twice the product is rounded, ties away from zero,
                               then the shift to the right is, ties away from zero */
    KILN_ROUND_FIXED_ONCE   /* the whole product is shifted and rounded once, ties upwards */
} kiln_rounding;

/* Values that an enqueue brings in a buffer instead of the problem: bits of kiln_quant.buffers, and
 * buffers of kiln_buffers. */
enum {
    KILN_QUANT_W_SCALES =
        1,                 /* w_scales[out_channels], f32; with the fixed-point roundings pairs of
                              i32, multiplier and shift: the factor is multiplier * 2^(shift - 31);
                              a shift above 0 goes to the left, at most 30, below, at least -31 */
    KILN_QUANT_X_ZERO = 2, /* one i32 each */
    KILN_QUANT_W_ZERO = 4,
    KILN_QUANT_Y_ZERO = 8
};

/* Scales and zero points of a forward pass. All zero: none. A scale belongs to any type but a y of
 * i32, a zero point to tensors of i8 and u8 and must be a value of its tensor's type. Constants are
 * compiled in: a program with many layers of one shape gives scales as w_scales[k] = x_scale *
 * w_scale[k] / y_scale, and zero points in buffers. */
typedef struct kiln_quant {
    float x_scale, w_scale, y_scale, residual_scale; /* 0 = 1; beta is a factor of the last one */
    int x_zero, w_zero, y_zero, residual_zero;
    int buffers;             /* bits KILN_QUANT_...: what comes in buffers */
    kiln_type residual_type; /* 0 = y's */
    int residual_after;      /* 1: the residual is added behind the activation */
    kiln_rounding rounding;  /* fixed-point: x of i8 or u8, y of i8 or u8, w_scales; the activation
                                none, relu or clipped_relu; bias none or i32; no residual; scales
                                of x and w left at 1 (w_scales hold them) */
} kiln_quant;

typedef enum kiln_determinism {
    KILN_DETERMINISM_DEFAULT = 0, /* kiln chooses reproducible configs; a forced one may not be */
    KILN_DETERMINISTIC,   /* also refuses a forced config whose result may vary between runs */
    KILN_NONDETERMINISTIC /* float atomics may be chosen where they are faster */
} kiln_determinism;

/* Algorithms other than plain sums (Winograd) transform whole tiles of x or y: one NaN or infinity
 * makes NaNs of all results of the tiles that hold it, and values above about 1e36 may overflow
 * where plain sums do not. KILN_MATH_EXACT keeps a NaN to the results that it is a term of. Padding
 * contributes nothing to a sum; but a solver may store it as zeros, so that where a NaN or infinite
 * weight meets padding (in backward weights: in the filters of the channels that hold the NaN) the
 * result may be NaN in any mode. Instructions for pairs of bf16 take factors below 2^-126 for zero;
 * KILN_MATH_EXACT leaves them out. */
typedef enum kiln_math {
    KILN_MATH_DEFAULT = 0, /* = KILN_MATH_FAST */
    KILN_MATH_EXACT,       /* each output is a plain sum of products: no Winograd */
    KILN_MATH_FAST,        /* algorithms with a known larger error bound are allowed (Winograd) */
    KILN_MATH_REDUCED      /* products may be rounded to a shorter type (tensor cores) */
} kiln_math;

enum { KILN_MAX_RANK = 3, KILN_LAYOUT_TEXT = 32 };

typedef struct kiln_problem {
    kiln_direction direction;
    int transposed;   /* 0, or 1: transposed convolution ("-m trans") */
    int spatial_rank; /* 1, 2 or 3; 0 = 2 */

    /* A source left at default takes the other source's type, f32 if neither is set; a destination
     * left at default takes the sources' type, i32 where they are i8. */
    kiln_type x_type, w_type, y_type;

    /* A layout's name or spec, "any" to let the library choose; "" = NCHW, OIHW, NCHW and their kin
     * of other ranks. Letters, digits and _ / | ; % only. */
    char x_layout[KILN_LAYOUT_TEXT], w_layout[KILN_LAYOUT_TEXT], y_layout[KILN_LAYOUT_TEXT];
    char bias_layout[KILN_LAYOUT_TEXT]; /* the same for the bias, over its one dim W; "" = "W" */

    /* N, C, K of the convolution itself; at least 1. A batch of 0 is an error as in cuDNN: there is
     * nothing to enqueue (frameworks return an empty tensor, and zeros as backward weights). */
    int64_t batch, in_channels, out_channels;
    int64_t groups;                /* 0 = 1 */
    int64_t input[KILN_MAX_RANK];  /* at least 1; axes past the rank stay 0, here and below */
    int64_t filter[KILN_MAX_RANK]; /* at least 1 */
    int64_t stride[KILN_MAX_RANK]; /* 0 = 1 */
    int64_t pad_begin[KILN_MAX_RANK], pad_end[KILN_MAX_RANK];
    int64_t dilation[KILN_MAX_RANK];   /* 0 = 1 */
    int64_t output_pad[KILN_MAX_RANK]; /* transposed only; below max(stride, dilation) */

    kiln_epilogue epilogue;
    kiln_quant quant;
    kiln_determinism determinism;
    kiln_math math;
    int64_t workspace_limit; /* bytes; 0 = a quarter of the device's memory */
} kiln_problem;

enum { KILN_ERROR_TEXT = 256, KILN_KEY_TEXT = 640 };

/* Completes defaults in place and checks everything that needs no device: afterwards types, layouts
 * ("" becomes "NCHW"), strides and the math mode say what they are, and equal problems are equal
 * bytes. On failure returns KILN_INVALID and, if `why` is not NULL, writes one sentence of at most
 * KILN_ERROR_TEXT bytes that names the value and the remedy. Pure: no allocation, no global state,
 * any thread. */
KILN_API kiln_status kiln_problem_check(kiln_problem *problem, char *why);

/* The functions from here on that take a `const kiln_problem *` answer for checked problems. For
 * NULL and for a problem that is not checked they return 0 and write "". */

/* Returns the output size of a checked problem along spatial axis `axis`; 0 where it has no such
 * axis. */
KILN_API int64_t kiln_problem_output(const kiln_problem *problem, int axis);

/* Returns the bytes that x, w, y or b, the bias, of a checked problem occupies, padding of its
 * layout included. Returns 0, with the reason in why[KILN_ERROR_TEXT] if that is not NULL, where
 * there is no answer; a layout that is "any" has none: kiln_conv_plan() chooses it and tells the
 * sizes. */
KILN_API int64_t kiln_problem_bytes(const kiln_problem *problem, char tensor /* 'x' 'w' 'y' 'b' */,
                                    char *why);

/* Returns the elements of x, w or y of a checked problem, without layout padding. */
KILN_API int64_t kiln_problem_count(const kiln_problem *problem, char tensor /* 'x' 'w' 'y' */);

/* The problem's name, used everywhere: "fwd-f32-n16-c192-k64-i28x28-f1x1". Behind the direction
 * stands the type of the tensors that are read; the number of sizes in -i is the spatial rank.
 * Optional parts follow in a fixed order and only where they differ from the default:
 *     -sHxW stride  -pHxW pad before  -eHxW pad after, if unlike before  -dHxW dilation  -gG groups
 *     -trans  -oHxW output pad  -t:X.W.Y types, if the destination's is not the one the sources
 *     imply  -l:X.W.Y layouts  -bias  -aALPHA  -rBETA  -act:NAME:A:B (without trailing zeros)
 *     -q:WORD:WORD of scales and zero points: xs0.5 ws0.5 ys0.5 rs0.5 x3 w3 y3 r3, wb xb yb wzb for
 *     what comes in buffers (w_scales, x_zero, y_zero, w_zero), tTYPE of the residual, after, twice
 *     or once
 *     -det  -nondet  -exact  -reduced  -wsBYTES
 * Two checked problems have the same text exactly when they are the same bytes. Decimals have a
 * point in every locale. KILN_KEY_TEXT bytes hold the text of any checked problem. Writes at most
 * `size` bytes with the final zero, none where `text` is NULL; returns the length that was needed.
 */
KILN_API size_t kiln_problem_text(const kiln_problem *problem, char *text, size_t size);

/* Writes the part of that name that tuning rows are kept under: without epilogue, determinism, math
 * mode and workspace limit, which do not change what is fast, and with the plain layout for a
 * filter that a run reads from a buffer, because it is packed once. Returns as kiln_problem_text().
 */
KILN_API size_t kiln_problem_row_key(const kiln_problem *problem, char *text, size_t size);

/* Reads kiln_problem_text()'s form (parts in their order, each at most once), or MIOpen's database
 * key ("192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP32-F"), into a checked problem. The text may
 * be hostile; on failure *problem is untouched and `why` names what is wrong. */
KILN_API kiln_status kiln_problem_parse(kiln_problem *problem, const char *text, char *why);

/* Writes MIOpen's key of a checked problem, as kiln_problem_text(). Returns 0 where MIOpen has no
 * key for the problem: 8-bit floats, u8, rank 1, transposed, unequal padding, an epilogue beyond
 * the bias, other layouts than NCHW and NHWC (NCDHW, NDHWC). */
KILN_API size_t kiln_problem_miopen_key(const kiln_problem *problem, char *text, size_t size);

/* "f32", "f16", "bf16", "i8", "i32", "f8e4m3", "f8e5m2", "u8"; "?" for a number that is no type's.
 */
KILN_API const char *kiln_type_name(kiln_type type);
/* Sets *type to the type of that name; returns false, with *type untouched, for any other name. */
KILN_API bool kiln_type_named(const char *name, kiln_type *type);
/* The size of one element in bytes; 0 for a number that is no type's. */
KILN_API size_t kiln_type_size(kiln_type type);
KILN_API bool kiln_type_is_integer(kiln_type type);
/* The bits of fraction and exponent that an element of a floating type has; 0 for integers. */
KILN_API int kiln_type_fraction_bits(kiln_type type);
KILN_API int kiln_type_exponent_bits(kiln_type type);
/* The bits of an element that a result hardly has, a NaN with a payload or an unlikely integer.
 * kiln fills destinations with it before it verifies them. */
KILN_API uint32_t kiln_type_poison(kiln_type type);
/* "fwd", "bwd", "wrw". */
KILN_API const char *kiln_direction_name(kiln_direction direction);
/* "identity", "relu", "clipped_relu", ...; NULL past the last. */
KILN_API const char *kiln_activation_name(kiln_activation activation);
/* Sets *activation to the one of that name or of that name in another library ("logistic"); returns
 * false, with *activation untouched, for any other name. */
KILN_API bool kiln_activation_named(const char *name, kiln_activation *activation);

#ifdef __cplusplus
}
#endif

#endif
