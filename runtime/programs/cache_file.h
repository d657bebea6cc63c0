/* The program cache on disk: one file for each program, named by the hash of its key.
 *
 *     offset  size
 *          0     8  magic, "kilnprog"
 *          8    16  XXH3-128 of every byte that follows, canonical (big-endian) form
 *         24     4  format, KILN_CACHE_FORMAT
 *         28     4  size of the key with its final zero
 *         32     8  size of the binary, at least 1
 *         40        the key, then the binary, then the end of the file
 *
 * Integers are in the machine's own byte order: a machine of the other order sees another format.
 * A file is written under a temporary name and renamed, so readers need no lock. Whatever does not
 * match is a miss. Nothing here calls OpenCL, and nothing reports an error but by a reason in
 * words.
 */
#ifndef KILN_CACHE_FILE_H
#define KILN_CACHE_FILE_H

#include "runtime/base/error.h"

#include <stdbool.h>

enum {
    KILN_CACHE_FORMAT = 1,
    KILN_CACHE_NAME = 40, /* room for a file's name */
    KILN_CACHE_HASH = 33  /* room for a hash in hexadecimal */
};

typedef struct kiln_cache_record {
    const char *key;
    const unsigned char *binary;
    size_t binary_size;
} kiln_cache_record;

/* Writes the XXH3-128 hash in 32 lower-case hexadecimal digits. */
void kiln_cache_hash(const void *data, size_t size, char hash[KILN_CACHE_HASH]);
/* Writes the name of a key's file: its hash and ".kiln". */
void kiln_cache_name(const char *key, char name[KILN_CACHE_NAME]);

/* Returns the bytes of a record's file, to be freed; NULL when out of memory or when the record is
 * empty or too large. */
unsigned char *kiln_cache_encode(const kiln_cache_record *record, size_t *size);
/* Checks the bytes of a file, hostile ones too, and points *record into them. Returns NULL if all
 * is well, else what is wrong. Pure. */
const char *kiln_cache_decode(const void *data, size_t size, kiln_cache_record *record);

/* Reads file `name` of the open directory `at` and checks it. Returns NULL if all is well, else
 * what is wrong. free() *data, which *record points into, in both cases. `touch`: marks the file as
 * used now. */
const char *kiln_cache_read(int at, const char *name, bool touch, unsigned char **data,
                            kiln_cache_record *record);

/* Returns what keeps a directory from being trusted: that it belongs to another user than root, or
 * that group or others may write to it. Returns NULL where it can be trusted or is not there. */
const char *kiln_cache_distrust_dir(const char *dir);
/* Returns true where a reason of this file is such a one, of a directory or of a file. */
bool kiln_cache_is_distrust(const char *why);

/* Reads the file that `key` names, as kiln_cache_read() does; the file must hold that very key.
 * With `touch` a hit is marked as used now. */
const char *kiln_cache_load(const char *dir, const char *key, bool touch, unsigned char **data,
                            kiln_cache_record *record);

/* Makes a directory (0700) and its parents where they are missing. Returns 0 or an errno. */
int kiln_cache_make_dir(const char *dir);

/* Writes a record to file `name` of `dir`, making the directory (0700) when it is missing. Returns
 * 0, or an errno when the file could not be written; logs a line. */
int kiln_cache_write(const char *dir, const char *name, const kiln_cache_record *record,
                     const kiln_logger *logger);

#endif
