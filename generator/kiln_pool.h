/* Work on tensors without weights, as a plain value: pooling, and what changes or joins elements at
 * one place: adding, multiplying, scaling, an activation, and copies of ranges of channels.
 *
 * Fill a kiln_pool with a designated initializer, as a kiln_problem; every field left at zero takes
 * the default written beside it. kiln_pool_create() (kiln.h) checks it and makes an operation of
 * it.
 *
 *     kiln_pool max = {.kind = KILN_POOL_MAX, .batch = 1, .channels = 64, .input = {112, 112},
 *                      .window = {3, 3}, .stride = {2, 2}, .pad_begin = {1, 1}, .pad_end = {1, 1}};
 *     kiln_pool add = {.batch = 1, .channels = 64, .input = {56, 56}, .with = KILN_WITH_SUM};
 *
 *     x [N][C][in...]   y [N][C][out...]
 *     out = (in + pad_begin + pad_end - ((window - 1) * dilation + 1)) / stride + 1
 *     y = activation(alpha * pool(x))                          KILN_WITH_NOTHING
 *     y = activation(alpha * pool(x) + beta * other)           KILN_WITH_SUM
 *     y = activation(alpha * pool(x) * beta * other)           KILN_WITH_PRODUCT
 */
#ifndef KILN_POOL_H
#define KILN_POOL_H

#include "kiln_problem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kiln_pool_kind {
    KILN_POOL_NONE = 0,      /* no window: the element itself */
    KILN_POOL_MAX,           /* the largest element inside the image; a NaN stays */
    KILN_POOL_AVERAGE,       /* of the elements inside the image */
    KILN_POOL_AVERAGE_PADDED /* the same, with padding counted as zeros, of bytes with a zero point
                                as 0 too */
} kiln_pool_kind;

/* The second tensor that is read. It has y's type and layout. */
typedef enum kiln_pool_with {
    KILN_WITH_NOTHING = 0,
    KILN_WITH_SUM,
    KILN_WITH_PRODUCT
} kiln_pool_with;

/* A tensor that is a range of the channels of a larger one. */
typedef struct kiln_channel_range {
    int64_t first; /* channel */
    int64_t of;    /* channels of the larger tensor; 0: the tensor is whole */
} kiln_channel_range;

typedef struct kiln_pool {
    kiln_pool_kind kind;
    int spatial_rank;         /* 1, 2 or 3; 0 = 2 */
    kiln_type x_type, y_type; /* no KILN_I32; default: f32; x_type */
    char x_layout[KILN_LAYOUT_TEXT], y_layout[KILN_LAYOUT_TEXT]; /* "": NCHW and its kin. No image
                                                                    and no "any" */
    int64_t batch, channels;                                     /* at least 1 */
    int64_t input[KILN_MAX_RANK];
    int global; /* 1: the window is the whole image; window, stride and padding stay 0 */
    int64_t window[KILN_MAX_RANK];                            /* 0 = 1 */
    int64_t stride[KILN_MAX_RANK];                            /* 0 = 1 */
    int64_t pad_begin[KILN_MAX_RANK], pad_end[KILN_MAX_RANK]; /* shorter than a dilated window */
    int64_t dilation[KILN_MAX_RANK];                          /* 0 = 1 */
    kiln_channel_range x_range, y_range;
    kiln_pool_with with;
    int other_is_one; /* 1: the other tensor has one element for each image and channel, for all
                         pixels, as [N][C][1][1] */
    float alpha;      /* 0 = 1 */
    float beta;       /* with KILN_WITH_SUM, KILN_WITH_PRODUCT; 0 = 1 */
    kiln_activation activation;
    float param[2]; /* as in kiln_epilogue */
} kiln_pool;

/* Completes defaults in place and checks what needs no device. On failure returns KILN_INVALID and,
 * if `why` is not NULL, writes one sentence of at most KILN_ERROR_TEXT bytes. Pure. */
KILN_API kiln_status kiln_pool_check(kiln_pool *pool, char *why);

/* Answer for a checked pool: the output size along a spatial axis, and the bytes of the memory that
 * holds x, y or the other tensor 'r', larger tensors whole; 0 where there is none. */
KILN_API int64_t kiln_pool_output(const kiln_pool *pool, int axis);
KILN_API int64_t kiln_pool_bytes(const kiln_pool *pool, char tensor /* 'x' 'y' 'r' */);

#ifdef __cplusplus
}
#endif

#endif
