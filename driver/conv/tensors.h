/* The tensors of one problem, on the host and on the device. */
#ifndef KILN_TENSORS_H
#define KILN_TENSORS_H

#include "driver/base/session.h"
#include "driver/layout/layout_host.h"
#include "driver/reference/reference.h"

#include "request.h"

typedef struct tensors {
    kiln_problem problem; /* checked; no layout is "any" */
    char to;              /* 'x', 'w' or 'y': the tensor that the problem's direction writes */
    bool on_host;         /* --verify, --search or --dump_output needs the values */
    void *x, *w, *y, *residual; /* plain host arrays; the destination's holds the result. NULL
                                   unless on_host: the device has the only copy then */
    float *bias;                /* a source; in backward weights a result */
    void *w_scales;             /* what quantised tensors bring in buffers */
    int x_zero, w_zero, y_zero;
    bool from_files; /* at least one source was read from a file */
    kiln_storage x_storage, w_storage, y_storage, bias_storage,
        residual_storage; /* on the device */
    int64_t dirty;        /* cells of the destination's padding that came back other than zero */
    kiln_buffers buffers;
} tensors;

/* Checks that the files which the request names have the sizes of the problem's tensors. */
kiln_status tensors_check_files(const request *r, const kiln_problem *p, char *why);

/* Makes and fills the sources, poisons the destination. On failure releases everything. */
kiln_status tensors_make(tensors *t, const session *s, const request *r, const kiln_problem *p,
                         char *why);
void tensors_free(tensors *t);

/* Makes the workspace (0 bytes: none) in the place of an earlier one. */
kiln_status tensors_workspace(tensors *t, const session *s, int64_t bytes, char *why);

/* Overwrite the destination on the device with poison (only where on_host is set), and copy it
 * back. Both wait for the queue. */
kiln_status tensors_poison(tensors *t, const session *s, char *why);
kiln_status tensors_read(tensors *t, const session *s, char *why);

void *tensors_destination(const tensors *t);
kiln_type tensors_type(const kiln_problem *p, char tensor);
/* Returns the sources as the reference takes them. */
reference_tensors tensors_sources(const tensors *t);

#endif
