/* Tuning rows: what sweeps learned, kept in YAML that a person can read, merge and mend.
 *
 * One file per device; the user's over the shipped one. A row is one flow map on one line, `rows`
 * is the last key of the file, so that recording is one appended line and a file cut short by a
 * kill still loads. Rows are untrusted: a reader checks the config against the solver before use.
 */
#ifndef KILN_ROWS_H
#define KILN_ROWS_H

#include "error.h"

typedef struct kiln_row {
    char key[KILN_KEY_TEXT]; /* kiln_problem_row_key() */
    char solver[48];
    int version; /* of the solver */
    char config[KILN_INFO_TEXT];
    double ms, spread; /* median, and (p90 - p10) / median; 0: not measured here */
    int runs;
    double error;     /* largest error over its bound when verified */
    char hash[40];    /* of the solver's templates */
    char driver[128]; /* of the device */
    char date[16];    /* 2026-01-31 */
} kiln_row;

typedef struct kiln_rows kiln_rows;

/* A missing file is an empty set. A damaged one loads up to its last whole line; what was skipped
 * is logged with its line number. NULL only when out of memory. */
kiln_rows *kiln_rows_load(const char *file, const kiln_logger *logger);
void kiln_rows_free(kiln_rows *rows);
size_t kiln_rows_count(const kiln_rows *rows);
const kiln_row *kiln_rows_at(const kiln_rows *rows, size_t index); /* in file order */

/* The nth newest row (0: newest) for the key, of `solver` if not NULL; NULL past the last. O(1) on
 * average. */
const kiln_row *kiln_rows_find(const kiln_rows *rows, const char *key, const char *solver, int nth);

/* Appends one row, making the file (and its folders) with its head when missing. Several processes
 * may append at once. */
kiln_status kiln_rows_append(const char *file, const char *device, const kiln_row *row);

/* "NVIDIA H100 80GB HBM3" -> "nvidia-h100-80gb-hbm3": the name of a device's file. */
void kiln_device_slug(const char *name, char *slug, size_t size);

/* The user's file for a device: KILN_DB, else $XDG_DATA_HOME/kiln/SLUG.yaml, else
 * ~/.local/share/kiln/SLUG.yaml; "" with KILN_DB=off or no home. */
void kiln_rows_default_file(const char *device, char *file, size_t size);

#endif
