/* A checked problem as the solvers see it: always a plain convolution over three spatial axes.
 *
 * A transposed convolution is the mirror image of a plain one: its forward pass is the plain
 * backward pass over the data with x and y exchanged (and so on), with the same weight storage
 * [K][C/g] read as [C][K/g]. kiln_shape_of() does that exchange once, so no solver knows about it;
 * kiln_plan_finish() exchanges the buffers back.
 *
 * Spatial axes are always D, H, W; an axis the problem does not have is 1 wide with filter 1,
 * stride 1, no padding. Everything is 64-bit and free of overflow: kiln_problem_check() saw to it.
 */
#ifndef KILN_SHAPE_H
#define KILN_SHAPE_H

#include "kiln_layout.h"
#include "kiln_problem.h"

#include <stdbool.h>

enum { KILN_AXIS_D = 0, KILN_AXIS_H = 1, KILN_AXIS_W = 2 };

typedef struct kiln_shape {
    kiln_direction direction; /* of the plain convolution */
    bool mirrored;            /* the caller's problem is transposed: its x is our y */
    int rank;
    int64_t n, c, k, g;
    int64_t in[3], out[3], filter[3], stride[3], dilation[3], pad[3] /* before */, pad_end[3];

    /* In the plain convolution's roles: what the solver reads and writes. */
    kiln_type x_type, w_type, y_type;
    /* The caller's types. Where they differ from those, stages before the solver's convert the
     * sources, and `split` says that a stage behind them makes results of sums (result.h). */
    kiln_type x_given, w_given, y_given;
    bool split;
    char x_layout[KILN_LAYOUT_TEXT], w_layout[KILN_LAYOUT_TEXT], y_layout[KILN_LAYOUT_TEXT];
    char bias_layout[KILN_LAYOUT_TEXT];

    /* Layouts of the caller's tensors where the solver works on plain ones; "": as above. */
    char x_outer[KILN_LAYOUT_TEXT], w_outer[KILN_LAYOUT_TEXT], y_outer[KILN_LAYOUT_TEXT];
    char bias_outer[KILN_LAYOUT_TEXT];
    bool native_layout; /* no reformat stages: a layout no solver reads is refused */

    int64_t x_count, w_count, y_count; /* logical elements */
    double flops;                      /* 2 per multiply-add, padding taps counted */
    bool wide; /* index in 64 bits: a tensor has 2^31 elements or a padded axis is that long */

    /* The epilogue applies to the destination tensor of `direction`. The bias has one value for
     * each of its channels. In backward weights the bias is written, with one value for each
     * channel of the caller's y. */
    kiln_epilogue epilogue;
    /* Where the shape is split, the solver's epilogue asks for nothing, and these are the caller's.
     */
    kiln_epilogue result;
    kiln_quant quant;
    kiln_determinism determinism;
    kiln_math math;
    int64_t workspace_limit;
} kiln_shape;

/* Returns the shape of a problem that kiln_problem_check() accepted. */
kiln_shape kiln_shape_of(const kiln_problem *problem);

/* Writes the layouts of the shape back into its problem, so that the problem says what a solver
 * made of "any". */
void kiln_shape_give_layouts(const kiln_shape *s, kiln_problem *problem);

/* Makes the storage of a tensor of the shape in `layout`, as kiln_problem_storage(). */
bool kiln_shape_storage(const kiln_shape *s, char tensor, const char *layout, kiln_storage *storage,
                        char *why);

/* The same of a tensor whose elements have another type than the solver's. */
bool kiln_shape_storage_as(const kiln_shape *s, char tensor, kiln_type type, const char *layout,
                           kiln_storage *storage, char *why);

/* Return the type, the layout and the count of the tensor that `direction` writes, and its channels
 * per image. */
kiln_type kiln_shape_out_type(const kiln_shape *s);
/* Returns the epilogue that the caller asks for. */
const kiln_epilogue *kiln_shape_epilogue(const kiln_shape *s);
kiln_type kiln_shape_residual_type(const kiln_shape *s);
int64_t kiln_shape_out_count(const kiln_shape *s);

/* Returns how many products are summed into one element of the destination: the accumulation length
 * of error bounds. */
int64_t kiln_shape_terms(const kiln_shape *s);

/* Returns whether a sum of bytes may leave an int though the result needs all of it: an i32 is the
 * sum modulo 2^32, other types are not. */
bool kiln_shape_sums_long(const kiln_shape *s);
enum { KILN_INT_PRODUCTS = INT32_MAX / (128 * 128) }; /* so many products of bytes an int holds */

/* Returns whether products may be those of tensor cores: x and y are of narrow types, or the caller
 * lets floats be rounded. */
bool kiln_shape_suits_tensor_cores(const kiln_shape *s);
/* The same of x86's AMX. */
bool kiln_shape_suits_amx(const kiln_shape *s);

/* Returns whether the epilogue asks for nothing at all. */
bool kiln_epilogue_is_identity(const kiln_epilogue *e);

/* Returns whether all three tensors have the layouts NCHW, OIHW, NCHW (or their 1-D and 3-D kin).
 */
bool kiln_shape_is_plain_layout(const kiln_shape *s);

/* Returns whether a pixel of y meets the pixel of x at its own place, and no other. The sizes of x
 * and y decide too: a transposed problem's output padding makes x larger. */
bool kiln_shape_is_pointwise(const kiln_shape *s);

#endif
