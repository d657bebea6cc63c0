/* Compiled programs: from memory, else from disk, else from the compiler.
 *
 * The key is a text: format, platform, device, driver, hash of the source, options. Its hash names
 * the file; the text stored inside decides. A file holds key, checksum and binary, is written under
 * a temporary name and renamed, and whatever does not match is a miss, never an error. The binary
 * is taken after the program's first launch, because PoCL finishes compiling only then.
 *
 * All functions may be called from any thread.
 */
#ifndef KILN_PROGRAM_H
#define KILN_PROGRAM_H

#include "generator/plan/device.h"
#include "runtime/error.h"

typedef struct kiln_programs kiln_programs;
typedef struct kiln_program kiln_program;

/* Opens a cache in `dir`; NULL or "": in memory only. `limit` in bytes, 0 = 256 MiB: the least
 * recently used files go first. The logger must outlive the cache. A directory that is missing or
 * cannot be written is no failure: what cannot be stored is one line in the log. Returns NULL: out
 * of memory. */
kiln_programs *kiln_programs_open(const char *dir, int64_t limit, const kiln_logger *logger,
                                  cl_context context, cl_device_id device,
                                  const kiln_device_facts *facts);
void kiln_programs_close(kiln_programs *cache);

/* Gets the program of `source` with `options`, shared and counted. Threads that ask for the same
 * program at once wait for one of them to compile it; different programs compile side by side.
 * Returns KILN_OPENCL when it does not build; kiln_last_error() then has log and options. */
kiln_status kiln_program_get(kiln_programs *cache, const char *source, const char *options,
                             kiln_program **out);
cl_program kiln_program_cl(const kiln_program *program);
/* Says that a launch of every used kernel of the program has completed: stores its binary now, if
 * it is not on disk yet. Only the first call does something; on PoCL that takes up to half a
 * second. */
void kiln_program_ran(kiln_program *program);
/* The same once `launch` has completed: does it now or when the cache is closed. Waits for
 * nothing. */
void kiln_program_runs(kiln_program *program, cl_event launch);
/* Releases the program, which stays in memory for the next kiln_program_get(). NULL is fine. */
void kiln_program_release(kiln_program *program);

#endif
