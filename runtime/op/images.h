/* Images: their formats, checks of the caller's images, and images that an op owns. */
#ifndef KILN_IMAGES_H
#define KILN_IMAGES_H

#include "op.h"

cl_mem kiln_image_create(cl_context context, const kiln_image *image, cl_int *code);

/* Returns KILN_INVALID, with the reason, unless `given` is an image of that format and at least of
 * that size. */
kiln_status kiln_image_check(const char *name, const kiln_buffer *given, const kiln_image *image);

/* Creates the images among the plan's temps, and the packed weights if they are an image. */
kiln_status kiln_op_make_images(kiln_op *op);
void kiln_op_free_images(kiln_op *op);

/* An op has its images once, so its enqueues run one after the other, on whatever queues. Makes the
 * list of `*n` events that the next enqueue on `queue` waits for. free() *list. */
kiln_status kiln_op_images_wait(kiln_op *op, cl_command_queue queue, cl_uint *n,
                                const cl_event *wait, cl_event **list);
/* Sets the event that the next enqueue waits for; retains it. */
kiln_status kiln_op_images_busy(kiln_op *op, cl_event last);

#endif
