/* Finds programs that break the promise of settings.queues_flushed (settings.check_flushed): a
 * command of the program's own in a queue, and an operation behind it without kiln_flush() in
 * between.
 *
 * OpenCL does not tell what is in a queue. But every call of clEnqueue...() goes through the table
 * of functions that an implementation with cl_khr_icd has in each object: a queue that is watched
 * gets a copy of the table, with functions that note the command. Commands that have ended are no
 * breach: what comes behind them cannot come before them.
 */
#ifndef KILN_FLUSH_CHECK_H
#define KILN_FLUSH_CHECK_H

#include <CL/cl.h>

#include <stdbool.h>

/* Watches a queue of an implementation with cl_khr_icd, from now on. Returns the function that put
 * a command into it that may not have ended, "clEnqueueWriteBuffer"; NULL: there is none, or the
 * implementation has no tables. */
const char *kiln_flush_check(cl_command_queue queue, cl_device_id device);

/* Says that the program has flushed. */
void kiln_flush_checked(cl_command_queue queue);

/* Between these two, commands of the calling thread are the library's. */
void kiln_flush_check_leave(void);
void kiln_flush_check_enter(void);

#endif
