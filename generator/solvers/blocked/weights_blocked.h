/* How blocked backward weights are cut up: layouts, units, strips, and what that costs. */
#ifndef KILN_WEIGHTS_BLOCKED_H
#define KILN_WEIGHTS_BLOCKED_H

#include "generator/geometry/blocked.h"

/* The solver's parameters, in the order of its table. */
enum { TILE_X, TILE_Y, TILE_S, CUTS_X, CUTS_Y, PIXELS, PARTS, PARAMS };

/* What a lane of a sum is: an input or an output channel. The numbers are the template's. */
typedef enum kiln_lanes { LANES_C, LANES_K } kiln_lanes;

typedef struct kiln_weights_geometry {
    kiln_blocked b; /* source x, destination dy */
    kiln_lanes lanes;
    bool plain_x; /* x stays plain, and gives single elements */
    bool plain_w; /* dw leaves as a plain tensor */
} kiln_weights_geometry;

/* Blocks no wider than the device's vectors, narrower where only those fit groups. */
int kiln_weights_block(const kiln_shape *s, const kiln_device_facts *d);
/* The layout of dw whose last axis is the lanes of a sum. */
void kiln_weights_w_layout(const kiln_shape *s, kiln_lanes lanes, int block,
                           char text[KILN_LAYOUT_TEXT]);
/* Whether channels of a group fill blocks with those lanes. */
bool kiln_weights_fits(const kiln_shape *s, kiln_lanes lanes, int block);
/* Those that the layout of dw has, else those that waste least. */
kiln_lanes kiln_weights_lanes(const kiln_shape *s, int block);
/* NC/16HW16 and its kin. */
void kiln_weights_data_layout(const kiln_shape *s, int block, char text[KILN_LAYOUT_TEXT]);
kiln_weights_geometry kiln_weights_geometry_of(const kiln_shape *s, const kiln_device_facts *d);
/* Whether x gives single elements of a block. */
bool kiln_weights_reads_elements(const kiln_weights_geometry *g);
/* Units of a group that tiles cover, see the template. */
int64_t kiln_weights_units_x(const kiln_weights_geometry *g, const kiln_config *c);
int64_t kiln_weights_units_y(const kiln_weights_geometry *g, const kiln_config *c);
/* Those of one item. */
int64_t kiln_weights_item_x(const kiln_weights_geometry *g, const kiln_config *c);
int64_t kiln_weights_item_y(const kiln_weights_geometry *g, const kiln_config *c);
/* Pixels of the strips that a row of dy is cut into, and how many strips there are in all. */
int64_t kiln_weights_strip(const kiln_weights_geometry *g, const kiln_config *c);
int64_t kiln_weights_rows(const kiln_weights_geometry *g, const kiln_config *c);
/* Strips of a chunk, of a part. */
int64_t kiln_weights_chunk(const kiln_weights_geometry *g, const kiln_config *c);
int64_t kiln_weights_part(const kiln_weights_geometry *g, const kiln_config *c);
/* Vectors of sums of a tile. */
int kiln_weights_sums(const kiln_weights_geometry *g, const kiln_device_facts *d,
                      const kiln_config *c);
/* As kiln_solver has it. */
double kiln_weights_predict(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c);

#endif
