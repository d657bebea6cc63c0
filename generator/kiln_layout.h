/* Layouts: where the elements of a tensor live in memory. One descriptor for all of them.
 *
 * A layout is an ordered list of storage axes, outermost first. Each axis is a slice of one logical
 * dim: its subscript is (coordinate / div) % mod, where mod 0 (the outermost slice of a dim) means
 * no modulus. A dim may be rounded up to a multiple; the cells this adds are padding and hold zero.
 * An image is the same list cut in two places into rows | columns | lanes.
 *
 * Text form: axes as capital letters (the outermost slice of a dim) or "16c" (an inner slice of
 * 16), '|' for the cuts of an image, then any number of rules for rounding a dim up:
 *
 *     NCHW   NHWC   NCHW16c   OIHW4i16o4i   NH|CW|4c   OHW|I|4o;I%4   |W|4w
 *     NHWC;C%8        C to a multiple of 8
 *     NCHW;W%64B      W until one row of that axis is a multiple of 64 bytes
 *     NHWC;C=1/4      C to 1 or 4, whichever is enough; more is refused
 *
 * Other spellings are read too: "NC/16HW16" (a block named at its dim and repeated at the end) is
 * NCHW16c, "NHWC8" (a bare number at the end rounds the last dim) is NHWC;C%8, "nChw16c" (case
 * means nothing: a letter after a number is a block) is NCHW16c.
 *
 * Adding a layout is one line in layouts.def: name, logical dims, text form, synonyms.
 *
 * Everything is pure and 64-bit; what would overflow is refused.
 */
#ifndef KILN_LAYOUT_H
#define KILN_LAYOUT_H

#include "kiln_problem.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { KILN_MAX_DIMS = 6, KILN_MAX_AXES = 12, KILN_LAYOUT_NAME = 40, KILN_EXPRESSION_TEXT = 512 };

typedef struct kiln_axis {
    int dim; /* index into dims */
    int64_t div, mod;
} kiln_axis;

typedef struct kiln_layout {
    char name[KILN_LAYOUT_NAME]; /* the table's name, or the spec itself */
    char spec[KILN_LAYOUT_NAME];
    char dims[KILN_MAX_DIMS + 1]; /* logical order, "NCHW" */
    int ndims, naxes;
    kiln_axis axis[KILN_MAX_AXES];
    int64_t round[KILN_MAX_DIMS]; /* each dim is rounded up to a multiple of this, at least 1 */
    int64_t round_bytes[KILN_MAX_DIMS]; /* 0, or the rule %NB */
    int64_t sizes[KILN_MAX_DIMS][2];    /* 0, or the rule =A/B */
    bool image;
    int row_end,
        col_end; /* image: axes [0, row_end) fold to y, [row_end, col_end) to x, rest lanes */
} kiln_layout;

/* A layout with actual sizes. */
typedef struct kiln_storage {
    kiln_layout layout;
    int64_t dim[KILN_MAX_DIMS];
    int64_t extent[KILN_MAX_AXES], stride[KILN_MAX_AXES]; /* per storage axis, in elements */
    int64_t cells;                                        /* elements including padding */
    int64_t width, height;                                /* of an image, in pixels of four lanes */
} kiln_storage;

/* Reads a table name, a synonym or a spec, for logical dims `dims` ("NCHW", "OIHW"; NULL: those
 * of the name, NCDHW for NDHWC and NCW for NWC, else the table's own). Returns false, with a
 * sentence in why[KILN_ERROR_TEXT], when `text` is none of these or contradicts itself. */
KILN_API bool kiln_layout_parse(kiln_layout *layout, const char *text, const char *dims, char *why);
/* One line of the table. */
typedef struct kiln_layout_entry {
    const char *name, *dims, *spec;
    const char *synonyms; /* separated by blanks */
    const char *note;     /* a description in a few words */
} kiln_layout_entry;

/* Returns a line of the table, in order; NULL past the end. */
KILN_API const kiln_layout_entry *kiln_layout_at(int index);

/* Makes the storage of a tensor in a layout. Returns false, with the reason, for sizes below 1, a
 * dim that must be 1, or overflow. `type` matters to the few layouts whose rounding depends on the
 * element size (DLA). */
KILN_API bool kiln_storage_make(kiln_storage *storage, const kiln_layout *layout,
                                const int64_t *dim, kiln_type type, char *why);

/* Returns the number of cells that are not padding; 0 for NULL and a storage that was not made. */
KILN_API int64_t kiln_storage_elements(const kiln_storage *storage);
/* Returns the cell of an element; -1 for NULL. `coordinate` must lie within the dims. */
KILN_API int64_t kiln_storage_offset(const kiln_storage *storage, const int64_t *coordinate);
/* Finds the coordinates of the element in a cell. Returns false when the cell is padding, or
 * when there is no such cell. */
KILN_API bool kiln_storage_coordinate(const kiln_storage *storage, int64_t offset,
                                      int64_t *coordinate);
/* Returns the elements between neighbours along a dim, or -1 where blocking leaves no one distance.
 */
KILN_API int64_t kiln_storage_stride(const kiln_storage *storage, int dim);

/* Writes the offset as OpenCL C over variables named after the dims ("n", "c", "h", "w"), with
 * sizes as numbers: "((n*3+c/16)*28+h)*28...". Of an image, writes x, y or lane. Returns the length
 * needed, with `text` NULL as well; 0 for NULL and for another part. */
KILN_API size_t kiln_storage_expression(const kiln_storage *storage,
                                        char part /* 'o' 'x' 'y' 'l' */, char *text, size_t size);

/* Writes the inverse: coordinate `dim` of the element in a cell, over "cell", or for an image over
 * "x", "y" and "lane". A cell is padding where a coordinate is not below its dim. Returns the
 * length needed. */
KILN_API size_t kiln_storage_inverse(const kiln_storage *storage, int dim, char *text, size_t size);

/* Makes the storage of tensor 'x', 'w', 'y' or 'b', the bias, of a problem whose sizes are checked.
 * Returns false, with the reason, when the layout makes no sense for the tensor, or is "any":
 * kiln_conv_plan() chooses it. */
KILN_API bool kiln_problem_storage(const kiln_problem *problem, char tensor, kiln_storage *storage,
                                   char *why);

/* Returns false, with the reason, when an image is larger than the device takes. Buffers always
 * fit. */
KILN_API bool kiln_storage_fits_image(const kiln_storage *storage, int64_t max_width,
                                      int64_t max_height, char *why);

/* Returns "tensorrt", "dla" or "cudnn"; NULL past the last. */
KILN_API const char *kiln_profile_name(int index);

/* Checks limits of other libraries that are not geometry. Returns false, with the reason, when the
 * profile refuses, and for an unknown profile. */
KILN_API bool kiln_profile_accepts(const char *profile, const kiln_storage *storage, kiln_type type,
                                   char *why);

/* ---- from one layout to another ---------------------------------------------------------------
 */

/* A tensor that is stored one way and wanted another. */
typedef struct kiln_reformat {
    char dims[KILN_MAX_DIMS + 1]; /* "NCHW": the logical order of `size`; "": that of `from` */
    int64_t size[KILN_MAX_DIMS];
    char from[KILN_LAYOUT_NAME], to[KILN_LAYOUT_NAME]; /* "": as dims */
    kiln_type from_type, to_type;                      /* default: f32; from_type */
    double pad_value;                                  /* what padding is written with */
} kiln_reformat;

/* Completes defaults in place and makes the two storages. Returns KILN_INVALID, with the reason,
 * when names or sizes make no sense. */
KILN_API kiln_status kiln_reformat_check(kiln_reformat *reformat, kiln_storage *from,
                                         kiln_storage *to, char *why);

#ifdef __cplusplus
}
#endif

#endif
