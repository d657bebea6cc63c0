/* The processes that do the work of `kiln tune`: each has one device open. */
#ifndef KILN_TUNE_WORKER_H
#define KILN_TUNE_WORKER_H

#include "tune_message.h"

/* What a worker needs to know; a fork hands it on. */
typedef struct tune_job {
    const tune_options *options;
    const tune_list *list;
    trial_book *book; /* the process' own */
    const tune_device *device;
    const char *limits;
    int workers; /* that share this machine's cores; 0: one */
} tune_job;

/* Describes the devices that options->device names, one message each, or fails with one. `user` is
 * a tune_job. */
int tune_probe_run(int fd, void *user);

/* Opens the device, and says whether it could. */
int tune_reopen_run(int fd, void *user);

/* Opens the device and tunes items until the socket is closed. */
int tune_worker_run(int fd, void *user);

/* Opens the device and compiles configs until the socket is closed. */
int tune_helper_run(int fd, void *user);

/* Returns the settings of a search. */
search_settings tune_settings(const tune_job *job, const tune_slice *slice);

#endif
