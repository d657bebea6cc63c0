/* The parts of a page about one device, and what they share. */
#ifndef KILN_PAGE_PART_H
#define KILN_PAGE_PART_H

#include "report_data.h"

#include <stdio.h>

/* A device and its layers. */
typedef struct page_part {
    FILE *to;
    const report_data *data;
    const report_device *device;
    const report_layer *layer; /* the first of `count` */
    size_t count;
    int number; /* of the device, from 1: part of identifiers */
    double ms;  /* the sum of the layers' best times */
} page_part;

/* Sizes of the large pictures, in units of about a pixel. Letters grow in a narrow window, so that
 * they can be read there, too. */
enum { PAGE_WIDTH = 760, PAGE_LEFT = 92, PAGE_RIGHT = 20 };

/* Write a section each; nothing where there are no data for it. */
void page_tiles(const page_part *p);     /* page_tiles.c */
void page_shares(const page_part *p);    /* page_shares.c */
void page_roofline(const page_part *p);  /* page_roofline.c */
void page_gains(const page_part *p);     /* page_gains.c */
void page_before(const page_part *p);    /* page_before.c */
void page_predicted(const page_part *p); /* page_predicted.c */
void page_solvers(const page_part *p);   /* page_solvers.c */
void page_ages(const page_part *p);      /* page_ages.c */
void page_progress(const page_part *p);  /* page_progress.c */
void page_heat(const page_part *p);      /* page_heat.c */
void page_table(const page_part *p);     /* page_table.c */
void page_failures(const page_part *p);  /* page_failures.c */

/* Begin a section, with what its picture shows in one sentence, and end it. */
void page_section(FILE *to, const char *id, int number, const char *title, const char *says);
void page_section_end(FILE *to);

/* Begin a picture of a size in units of about a pixel, with its description, and end it. */
void page_picture(FILE *to, double width, double height, const char *description);
void page_picture_end(FILE *to);

/* Begin the mark of a layer in a picture, a link to its row if it has one, with the text that a
 * pointer sees: its name, config, time and rates; and end it. */
void page_mark(const page_part *p, const report_layer *l);
void page_mark_end(const page_part *p, const report_layer *l);
/* Draws the mark itself, whose shape and colour tell the direction, and which is hollow for types
 * other than f32. */
void page_mark_draw(FILE *to, const report_layer *l, double x, double y);

/* A value of a layer that a picture shows; 0: it has none. */
typedef double page_value(const page_part *p, const report_layer *l);

/* Draws a bar a layer, each with its name and its value. */
typedef struct page_bars {
    page_value *value;
    double origin; /* the value at which bars begin */
    bool log;
    const char *unit;
} page_bars;
void page_bars_draw(const page_part *p, const page_bars *b, const report_layer *const *list,
                    size_t n); /* page_bars.c */

enum { PAGE_BARS = 40 };

/* Returns "s", for one thing "". */
const char *page_plural(size_t n);

/* Returns "8,1 of direct". */
const char *page_config(const char *config, const char *solver, char text[REPORT_CONFIG]);

/* Lists up to `most` layers of the part that `value` gives a positive number, the largest first,
 * into `list`. Returns how many there are. */
size_t page_largest(const page_part *p, page_value *value, size_t most, const report_layer **list);

#endif
