/* The sizes of one convolution as problem lists write them, axis by axis. */
#ifndef KILN_LIST_SHAPE_H
#define KILN_LIST_SHAPE_H

#include "problem_list.h"

typedef struct list_axis {
    int64_t in, out, filter, stride, pad, pad_end, dilation, output_pad;
} list_axis;

typedef struct list_sizes {
    int64_t n, c, k, g;
    int rank;
    bool transposed;
    list_axis axis[3]; /* D, H, W; only the last `rank` count */
} list_sizes;

/* Makes the sizes the entry's problem and checks that. Ignores `out`. */
list_kind list_set_problem(const list_sizes *sizes, list_entry *entry);

/* Returns false where the arithmetic of an axis could overflow. Stride and dilation must be at
 * least 1. */
bool list_axis_is_tame(const list_axis *axis);

/* A list may write a negative padding after the input: it leaves out the last input rows. Where no
 * window reaches these rows anyway, sets the padding to 0 and returns true; else returns false. */
bool list_drop_unread(list_axis *axis);

#endif
