/* The tensors of one problem, on the host and on the device. */
#ifndef KILN_TENSORS_H
#define KILN_TENSORS_H

#include "driver/layout/layout_host.h"
#include "driver/reference/reference.h"
#include "driver/session.h"

#include "request.h"

typedef struct tensors {
    kiln_problem problem; /* checked; no layout is "any" */
    char to;              /* 'x', 'w' or 'y': the tensor that the problem's direction writes */
    bool on_host;         /* the request looks at values: with --verify, --search, --dump_output */
    void *x, *w, *y, *residual; /* plain host arrays; the destination's holds what came back. NULL
                                   unless on_host, so that memory is the device's alone */
    float *bias;                /* read, or in backward weights what came back */
    bool from_files;            /* some source was read from a file */
    kiln_storage x_storage, w_storage, y_storage, bias_storage; /* on the device */
    int64_t dirty; /* cells of the destination's padding that came back other than zero */
    kiln_buffers buffers;
} tensors;

/* Whether the files that the request names have the sizes of the problem's tensors. */
kiln_status tensors_check_files(const request *r, const kiln_problem *p, char *why);

/* Fills the sources, makes the buffers, uploads, poisons the destination. On failure everything is
 * released again. */
kiln_status tensors_make(tensors *t, const session *s, const request *r, const kiln_problem *p,
                         char *why);
void tensors_free(tensors *t);

/* Makes the workspace (0 bytes: none), replacing an earlier one. */
kiln_status tensors_workspace(tensors *t, const session *s, int64_t bytes, char *why);

/* Destination: overwrites it with poison on the device, where values are looked at; copies it back.
 * Both wait for the queue. */
kiln_status tensors_poison(tensors *t, const session *s, char *why);
kiln_status tensors_read(tensors *t, const session *s, char *why);

void *tensors_destination(const tensors *t);
kiln_type tensors_type(const kiln_problem *p, char tensor);
/* As the reference wants them. */
reference_tensors tensors_sources(const tensors *t);

#endif
