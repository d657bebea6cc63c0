/* Compiled programs: from memory, else from disk, else from the compiler.
 *
 * The key is a text: format, platform, device, driver, hash of the source, options. Its hash names
 * the file; the text stored inside decides. A file holds key, checksum and binary, is written under
 * a temporary name and renamed, and whatever does not match is a miss, never an error. It is
 * written when an operation has been created with the program, so a process that is killed has
 * stored what it created.
 *
 * All functions may be called from any thread.
 */
#ifndef KILN_PROGRAM_H
#define KILN_PROGRAM_H

#include "generator/plan/device.h"
#include "runtime/base/error.h"

#include <stdbool.h>

typedef struct kiln_programs kiln_programs;
typedef struct kiln_program kiln_program;

/* Directories of programs; NULL or "": none. One that is missing or cannot be written is no
 * failure: what cannot be stored is one line in the log. */
typedef struct kiln_program_places {
    const char *dir;    /* read and written */
    const char *bundle; /* read first, never written: kiln_programs_store() has made it */
    int64_t limit;      /* of dir, in bytes; 0: 256 MiB. The least recently used files go first */
    /* The implementation keeps what it compiles itself, as PoCL does: dir is neither read nor
     * written. (To give a binary, PoCL compiles each kernel again, for work-groups of any size.) */
    bool kept;
} kiln_program_places;

/* Logger and context must outlive the cache. Returns NULL: out of memory. */
kiln_programs *kiln_programs_open(const kiln_program_places *places, const kiln_logger *logger,
                                  cl_context context, cl_device_id device,
                                  const kiln_device_facts *facts);
void kiln_programs_close(kiln_programs *cache);

/* Gets the program of `source` with `options`, shared and counted. Threads that ask for the same
 * program at once wait for one of them to compile it; different programs compile side by side.
 * Returns KILN_OPENCL when it does not build; kiln_last_error() then has log and options. Returns
 * KILN_NO_MEMORY when the compiler says that it lacks memory or other resources. */
kiln_status kiln_program_get(kiln_programs *cache, const char *source, const char *options,
                             kiln_program **out);
cl_program kiln_program_cl(const kiln_program *program);
/* Stores the program if it is not on disk yet. Only the first call does something. */
void kiln_program_keep(kiln_program *program);
/* Writes all programs that are in memory into `dir`, which may be a bundle of other kilns. PoCL
 * compiles for that, and what it compiled for launches is in the files, too: call it after a launch
 * of each kernel. Returns KILN_FILE, KILN_OPENCL or KILN_NO_MEMORY at the first that fails. */
kiln_status kiln_programs_store(kiln_programs *cache, const char *dir);
/* Has begin(user) called once, by the thread that compiles, after a program for which the compiler
 * took longer than a look into its own cache takes. Returns false where another call is awaited. */
bool kiln_programs_await(kiln_programs *cache, void (*begin)(void *user), void *user);
/* Takes that back. When it returns, begin(user) does not run, and will not. */
void kiln_programs_forget(kiln_programs *cache, const void *user);
/* Releases the program, which stays in memory for the next kiln_program_get(). NULL is fine. */
void kiln_program_release(kiln_program *program);

#endif
