/* Tuning rows: what sweeps learned, kept in YAML that a person can read, merge and mend.
 *
 * One file per device; the user's over the shipped one. A row (kiln_row, kiln.h) is one flow map on
 * one line, `rows` is the last key of the file, so that recording is one appended line and a file
 * cut short by a kill still loads. tuning-db/README.md has the schema.
 *
 * Rows are untrusted: reading one bounds its strings and numbers, and whoever uses it checks the
 * version, then the config against the solver's table, then its legality. A set is read only after
 * loading, so any number of threads may search it.
 */
#ifndef KILN_ROWS_H
#define KILN_ROWS_H

#include "runtime/base/error.h"

#include "kiln_tune.h"

#include <stdbool.h>

enum { KILN_ROWS_MAX_HEAD = 64 << 10 }; /* bytes up to and including the line "rows:" */

typedef void kiln_rows_visit(void *user, const kiln_rows_piece *piece);

/* Does what kiln_rows_read() does, for a text in memory. */
void kiln_rows_pieces(const char *text, size_t length, kiln_rows_visit *visit, void *user);

typedef struct kiln_rows kiln_rows;

/* Loads a file. A missing file is an empty set. A damaged file loads up to its last whole line,
 * each row on its own; the logger is warned of every row that was skipped, with the line's number.
 * Rows of other cores than `core` are left out, unless `core` is "". Returns NULL only when out of
 * memory. */
kiln_rows *kiln_rows_load(const char *file, const char *core, const kiln_logger *logger);
/* Loads the rows of a file that say that they are of `core`, whatever its device, without a word
 * of what is wrong with the file. */
kiln_rows *kiln_rows_load_of_core(const char *file, const char *core);
void kiln_rows_free(kiln_rows *rows);
/* Returns why the whole file is of no use, and so an empty set: file, line and reason. "" where the
 * file is of use, or is missing. */
const char *kiln_rows_trouble(const kiln_rows *rows);
bool kiln_rows_missing(const kiln_rows *rows); /* the file has a name, but is not there */
/* Returns the device that the head names; "": none, as where there is no file. */
const char *kiln_rows_device(const kiln_rows *rows);
size_t kiln_rows_count(const kiln_rows *rows);
size_t
kiln_rows_elsewhere(const kiln_rows *rows); /* counts rows of other cores, which were left out */
const kiln_row *kiln_rows_at(const kiln_rows *rows, size_t index); /* in file order */
/* Returns the line of the file that a row of the set begins in. */
int64_t kiln_rows_line(const kiln_rows *rows, const kiln_row *row);

/* Returns the nth newest row (0: newest) of the key, of `solver` if that is not NULL; NULL past the
 * last. A later row of the file is newer. O(1) on average. */
const kiln_row *kiln_rows_find(const kiln_rows *rows, const char *key, const char *solver, int nth);

/* Appends one row, making the file (and its folders) with its head when it is missing. Several
 * processes may append at once: a row is a single write(). With `row` NULL nothing is appended:
 * kiln_rows_make(). Returns KILN_FILE, naming the file, when the file cannot be written, holds rows
 * of another device, or does not look like a file of rows. */
kiln_status kiln_rows_append(const char *file, const char *device, const kiln_row *row);

/* Returns whether a head that names one device was written by kiln for the other. */
bool kiln_rows_name_device(const char *head, const char *device);

/* Writes the name of a device's file: "NVIDIA H100 80GB HBM3" -> "nvidia-h100-80gb-hbm3". */
void kiln_device_slug(const char *name, char *slug, size_t size);

/* Writes the path of the user's file for a device: KILN_DB, else $XDG_DATA_HOME/kiln/SLUG.yaml,
 * else ~/.local/share/kiln/SLUG.yaml; "" with KILN_DB=off or without a home. */
void kiln_rows_default_file(const char *device, char *file, size_t size);

#endif
