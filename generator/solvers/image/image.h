/* What the solvers over images share: channel-major tensors, filters as images, their defines. */
#ifndef KILN_IMAGE_H
#define KILN_IMAGE_H

#include "generator/plan/config_best.h"

#include "kiln_layout.h"

/* A filter as the kernel reads it. */
typedef struct kiln_filter_image {
    kiln_storage storage;
    bool given; /* whether the caller gives the image; else a stage makes it from plain weights */
} kiln_filter_image;

/* The `own` of a solver here is a list of the filter's layouts, the best first; NULL ends it. The
 * last two of its parameters are the sides of a work-group. */

/* Layouts of convolution filters as images. */
extern const char *const kiln_image_filters[];
/* Returns the columns from one tap to the next in a flat filter image; 0: the image is not flat. */
int64_t kiln_filter_flat(const kiln_storage *filter);

/* As prefer() of kiln_solver: prefers channel-major images, and the first of the filter layouts. */
void kiln_image_prefer(const kiln_solver *self, kiln_shape *s, const kiln_device_facts *d);
/* For reject(): returns true, with the reason, for what no solver here can do, and for images that
 * the device cannot hold. */
bool kiln_image_reject(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why);
/* Makes the filter: in the caller's layout, if `filters` has it, else in the first of `filters`
 * that fits the device. Returns false, with the reason, when there is none. */
bool kiln_image_filter(const kiln_shape *s, const kiln_device_facts *d, const char *const *filters,
                       kiln_filter_image *filter, kiln_why *why);

/* Adds the stage that packs the filter if the caller does not give an image, and returns the role
 * of the filter to read. */
int kiln_image_pack(kiln_plan *plan, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_filter_image *filter);
/* Adds the defines of all kernels over images: types, epilogue, sizes. */
void kiln_image_define(kiln_plan *plan, const kiln_shape *s);
/* Says which tensors of the caller are images; call it after the last stage. */
void kiln_image_bind(kiln_plan *plan, const kiln_shape *s);

/* Returns the expected time in ms of `items` items, each of which reads `reads` pixels, does `adds`
 * multiply-adds and writes `writes` pixels. */
double kiln_image_ms(const kiln_device_facts *d, double items, double reads, double adds,
                     double writes);
/* For illegal(): returns true, with the reason, for a work-group that the device does not have. */
bool kiln_image_group_illegal(const kiln_solver *self, const kiln_device_facts *d,
                              const kiln_config *c, kiln_why *why);
/* For skip(): returns whether the work-group is too large for a grid of `along` x `across` items,
 * or does not suit the device. */
bool kiln_image_group_skipped(const kiln_solver *self, const kiln_device_facts *d,
                              const kiln_config *c, int64_t along, int64_t across);
/* For guess(): sets *c to the config with the least predicted time of start->best and all that the
 * ranges make of it, with a work-group that suits the device. */
void kiln_image_guess(const kiln_guess *start, const kiln_range *range, int nranges,
                      kiln_config *c);

#endif
