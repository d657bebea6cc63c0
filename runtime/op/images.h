/* Images: their formats, checks of the caller's, and those that an op owns. */
#ifndef KILN_IMAGES_H
#define KILN_IMAGES_H

#include "op.h"

/* CL_RGBA in the channel type that stores `type`. */
cl_image_format kiln_image_format(kiln_type type);
cl_mem kiln_image_create(cl_context context, const kiln_image *image, cl_int *code);

/* KILN_INVALID, with the reason, unless `given` is an image of that format and size at least. */
kiln_status kiln_image_check(const char *name, const kiln_buffer *given, const kiln_image *image);

/* Creates the images among the plan's temps, and packed weights that are one. */
kiln_status kiln_op_make_images(kiln_op *op);
void kiln_op_free_images(kiln_op *op);

/* An op has its images once, so its enqueues run one after the other, on whatever queues: makes the
 * list of events that the next one on `queue` waits for. *list is to be freed. */
kiln_status kiln_op_images_wait(kiln_op *op, cl_command_queue queue, cl_uint *n,
                                const cl_event *wait, cl_event **list);
/* What the next one waits for. */
void kiln_op_images_busy(kiln_op *op, cl_event last);

#endif
