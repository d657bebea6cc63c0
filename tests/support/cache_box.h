/* A folder of a program cache for one test, and a record to keep in it. */
#ifndef CACHE_BOX_H
#define CACHE_BOX_H

#include "runtime/programs/cache_dir.h"

enum {
    BOX_HEADER = 40,
    BOX_BINARY = 300
}; /* bytes of a file before its key; bytes of the binary */

static const int64_t box_no_limit = INT64_MAX;
static const kiln_logger box_silent;
static const char box_key[] = "kiln program 1\ndevice test\noptions -DA=1";

extern char box_dir[256], box_path[512]; /* the folder, and the record's file there */
extern kiln_cache_record box_record;

/* Fixtures of each test. */
void box_make(void);
void box_remove(void);

/* Stores the record without a limit; fails the test where that fails. */
void box_store(void);
/* Returns why the key is not found; NULL where it is, with the record's binary. */
const char *box_load(const char *key);
void box_write_file(const char *name, const void *data, size_t size);
/* Returns the number of files in the folder that are not finished files of kiln. */
int box_strangers(void);

#endif
