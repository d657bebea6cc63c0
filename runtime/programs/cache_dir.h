/* The directory of the program cache. */
#ifndef KILN_CACHE_DIR_H
#define KILN_CACHE_DIR_H

#include "cache_file.h"

/* Writes KILN_CACHE_DIR, $XDG_CACHE_HOME/kiln or ~/.cache/kiln to `dir`; "" with KILN_CACHE=off,
 * KILN_CACHE_DIR=off or without a home. */
void kiln_cache_default_dir(char *dir, size_t size);

/* Writes the record's file, making the directory (0700) when it is missing, then removes the least
 * recently used others while all files together exceed `limit` bytes. Returns false, and logs a
 * line, when the file could not be written. */
bool kiln_cache_store(const char *dir, int64_t limit, const kiln_cache_record *record,
                      const kiln_logger *logger);

#endif
