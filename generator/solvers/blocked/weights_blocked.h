/* What the files of blocked backward weights share: layouts, units, strips and the predicted time.
 */
#ifndef KILN_WEIGHTS_BLOCKED_H
#define KILN_WEIGHTS_BLOCKED_H

#include "generator/geometry/blocked.h"

/* Positions in the parameter table. */
enum { TILE_X, TILE_Y, TILE_S, CUTS_X, CUTS_Y, PIXELS, PARTS, PARAMS };

/* What a lane of a sum is: an input or an output channel. The template has the same numbers. */
typedef enum kiln_lanes { LANES_C, LANES_K } kiln_lanes;

typedef struct kiln_weights_geometry {
    kiln_blocked b; /* source x, destination dy */
    kiln_lanes lanes;
    int together; /* pixels that are multiplied at once */
    bool plain_x; /* x stays plain, and items read single elements of it */
    bool moves_w; /* a last stage moves the sums to the layout of dw */
} kiln_weights_geometry;

/* Returns the channels of a block: no more than lanes of the device's vectors, fewer where only
 * those fit groups. */
int kiln_weights_block(const kiln_shape *s, const kiln_device_facts *d);
/* Writes the layout of dw whose last axis is the lanes of a sum. */
void kiln_weights_w_layout(const kiln_shape *s, kiln_lanes lanes, int block,
                           char text[KILN_LAYOUT_TEXT]);
/* Returns whether the channels of a group fill blocks with those lanes. */
bool kiln_weights_fits(const kiln_shape *s, kiln_lanes lanes, int block);
/* Returns the lanes that the layout of dw has, or else the lanes that waste least. */
kiln_lanes kiln_weights_lanes(const kiln_shape *s, int block);
/* Writes NC/16HW16 or its kin of the rank and block. */
void kiln_weights_data_layout(const kiln_shape *s, int block, char text[KILN_LAYOUT_TEXT]);
kiln_weights_geometry kiln_weights_geometry_of(const kiln_shape *s, const kiln_device_facts *d);
/* Returns whether items read single elements of x. */
bool kiln_weights_reads_elements(const kiln_weights_geometry *g);
/* Return the units of a group that tiles cover, as the template has them. */
int64_t kiln_weights_units_x(const kiln_weights_geometry *g, const kiln_config *c);
int64_t kiln_weights_units_y(const kiln_weights_geometry *g, const kiln_config *c);
/* Return the units of one item. */
int64_t kiln_weights_item_x(const kiln_weights_geometry *g, const kiln_config *c);
int64_t kiln_weights_item_y(const kiln_weights_geometry *g, const kiln_config *c);
/* Return the pixels of the strips that a row of dy is cut into, and how many strips there are in
 * all. */
int64_t kiln_weights_strip(const kiln_weights_geometry *g, const kiln_config *c);
int64_t kiln_weights_rows(const kiln_weights_geometry *g, const kiln_config *c);
/* Return the strips of a chunk and of a part. */
int64_t kiln_weights_chunk(const kiln_weights_geometry *g, const kiln_config *c);
int64_t kiln_weights_part(const kiln_weights_geometry *g, const kiln_config *c);
/* Returns the vectors of sums of a tile. */
int kiln_weights_sums(const kiln_weights_geometry *g, const kiln_device_facts *d,
                      const kiln_config *c);
/* As predict() of kiln_solver. */
double kiln_weights_predict(const kiln_solver *self, const kiln_shape *s,
                            const kiln_device_facts *d, const kiln_config *c);

#endif
