/* What the solvers over images share: channel-major tensors, filters as images, their defines. */
#ifndef KILN_IMAGE_H
#define KILN_IMAGE_H

#include "generator/plan/solver.h"

#include "kiln_layout.h"

/* A filter as the kernel reads it. */
typedef struct kiln_filter_image {
    kiln_storage storage;
    bool given; /* by the caller; else a stage makes it from plain weights */
} kiln_filter_image;

/* Conv filters as images, the best first; NULL ends them. */
extern const char *const kiln_image_filters[];
/* Columns from one tap to the next in a flat one of them; 0: it is not flat. */
int64_t kiln_filter_flat(const kiln_storage *filter);

/* For prefer(): channel-major images, and the first of the filter layouts (NULL at their end). */
void kiln_image_prefer(kiln_shape *s, const char *const *filters);
/* For reject(): what no solver here can do, and images that the device cannot hold. */
bool kiln_image_reject(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why);
/* The filter: in the caller's layout, if `filters` has it, else in the first of them that fits the
 * device. False, with the reason, when there is none. */
bool kiln_image_filter(const kiln_shape *s, const kiln_device_facts *d, const char *const *filters,
                       kiln_filter_image *filter, kiln_why *why);

/* Adds the stage that packs a filter that is not given; the role of the one to read. */
int kiln_image_pack(kiln_plan *plan, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_filter_image *filter);
/* What all kernels over images want: types, epilogue, sizes. */
void kiln_image_define(kiln_plan *plan, const kiln_shape *s);
/* Says which of the caller's tensors are images; after the last stage. */
void kiln_image_bind(kiln_plan *plan, const kiln_shape *s);

/* Expected time in ms of `items` items, each of which reads so many pixels, does so many
 * multiply-adds and writes so many pixels. */
double kiln_image_ms(const kiln_device_facts *d, double items, double reads, double adds,
                     double writes);
/* For illegal(): a work-group that the device does not have. */
bool kiln_image_group_illegal(const kiln_device_facts *d, int group_0, int group_1, kiln_why *why);
/* A work-group that suits the device. */
void kiln_image_guess_group(const kiln_device_facts *d, int *group_0, int *group_1);

#endif
