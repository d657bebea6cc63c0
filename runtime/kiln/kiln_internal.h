/* The insides of a kiln, which the rooms above this one know. */
#ifndef KILN_INTERNAL_H
#define KILN_INTERNAL_H

#include "generator/plan/solver.h"
#include "runtime/base/mem_lifetime.h"
#include "runtime/base/process.h"
#include "runtime/base/task_queue.h"
#include "runtime/programs/program.h"
#include "runtime/rows/rows.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct kiln_pocl kiln_pocl; /* runtime/pocl/pocl.h, for op/ and kiln/ only */

/* Packed weights that an operation wrote: for what, and a checksum of their contents. */
typedef struct kiln_packed_mark {
    uint64_t purpose, contents;
} kiln_packed_mark;

typedef struct kiln_packed_marks {
    kiln_packed_mark *at;
    size_t count;
} kiln_packed_marks;

enum { KILN_MOST_KINDRED = 8 };

struct kiln {
    atomic_int holders; /* the caller's handle, and operations */
    unsigned forks;     /* of the process, when the kiln was opened (process.h) */
    cl_context context; /* NULL: plans only */
    cl_device_id device;
    kiln_device_facts facts;
    pthread_mutex_t probing; /* guards `probed`, and before it is set what it stands for */
    struct {
        bool pocl, amx, tensor_cores, measured; /* probes.h */
    } probed;
    kiln_logger logger;
    kiln_programs *programs;
    kiln_mem_lifetime *lifetime;
    _Atomic(kiln_pocl *) pocl; /* NULL: plain OpenCL, or not probed yet */
    int64_t keepalive_us;      /* what the settings ask of PoCL's CPU device, as this and */
    bool place_threads, buffers_stay, queues_flushed;
    bool first_use;                   /* ops have a stand-in (op/first_use.h) */
    kiln_task_queue *tasks;           /* NULL: kiln_tasks_open() was not called */
    _Atomic(cl_command_queue) waited; /* the queue of the last kiln_finish() or kiln_flush() */
    bool check_padding, check_packed, check_flushed;
    char call_log[4096];       /* where runs are counted; "": nowhere */
    const char *rows_named_by; /* a setting, a variable; NULL: it is the default */
    atomic_bool missing_told;  /* that the file so named is not there */
    char measured[96];         /* what was measured on the device, for people; "": nothing */
    char cache_dir[4096], rows_file[4096], shipped_dir[4096], template_dir[4096];
    char bundle_programs[4096 + 16]; /* "": no bundle */
    pthread_mutex_t lock; /* guards user_rows, which tuning replaces, kindred, and packed */
    kiln_packed_marks packed;
    kiln_rows *user_rows, *shipped_rows, *generic_rows;
    kiln_rows *kindred[KILN_MOST_KINDRED]; /* of other devices (choose/kindred_rows.h) */
    int nkindred;
    bool kindred_loaded;
};

/* Hold a kiln, and give it up: the last holder frees it. */
void kiln_hold(kiln *k);
void kiln_unhold(kiln *k);

/* Makes k->tasks, unless it is there. Returns false: out of memory. */
bool kiln_tasks_open(kiln *k);

/* Returns whether this process opened the kiln. */
static inline bool kiln_is_here(const kiln *k)
{
    return kiln_process_is_of(k->forks);
}

/* Returns KILN_INVALID where this process did not open the kiln. */
kiln_status kiln_process_check(const kiln *k);

#endif
