/* A folder for one test's file of tuning rows, and the lines that kiln logged about it. */
#ifndef ROWS_BOX_H
#define ROWS_BOX_H

#include "runtime/rows/rows.h"

#define ROWS_HEAD "# a comment\nschema: 1\ndevice: \"d\"\nrows:\n"
#define ROWS_ROW(key, config)                                                                      \
    "- {key: \"" key "\", solver: S, version: 1, config: \"" config "\", ms: 1.5}\n"

extern char rows_folder[64], rows_file[128]; /* the file is not there at first */
extern char rows_told[4096];                 /* lines that the logger received */
extern const kiln_logger rows_logger;
extern const kiln_row rows_sample;

/* Fixtures of each test. */
void rows_make_folder(void);
void rows_remove_folder(void);

/* Writes the text to the file and loads it; clears rows_told first. */
kiln_rows *rows_load_bytes(const char *text, size_t length);
kiln_rows *rows_load_text(const char *text);
/* Appends the sample row with this key, config and time, for the device "d". */
void rows_append(const char *key, const char *config, double ms);

#endif
