/* The processes of a run, as their parent sees them. */
#ifndef KILN_TUNE_POOL_H
#define KILN_TUNE_POOL_H

#include "tune_child.h"
#include "tune_run.h"

/* How far a config's programs are. */
typedef enum built_state { NOT_BUILT = 0, BEING_BUILT, BUILT } built_state;

typedef struct built {
    tune_next config;
    built_state state;
} built;

typedef struct pool_helper {
    tune_child child;
    bool ready;
    int building; /* index in the worker's table; -1: none; POOL_ELSEWHERE: of an item before */
    double since, checked;
    int deaths;
} pool_helper;

enum { POOL_MOST_HELPERS = 32, POOL_ELSEWHERE = -2 };

typedef struct pool_worker {
    tune_child child;
    tune_kind *kind;
    const tune_device *device;
    bool ready, gone;         /* gone: its device cannot be opened (again) */
    bool served;              /* it could be opened once */
    int item;                 /* -1: none */
    double item_since, heard; /* when it began; when the worker last said something */
    double checked;           /* when its times were last checked */
    bool in_trial, waiting;   /* a trial runs; a trial waits for its programs */
    int overtaken;            /* how many trials have run before that one since it was the first */
    double trial_since;
    kiln_trial_line trial; /* that one */
    tune_next killer;      /* the config whose trial ended the last process with this item */
    int deaths;            /* outside trials, of this item */
    built *table;          /* of this item */
    size_t built, built_room;
    tune_next next[TUNE_AHEAD];
    int nexts;
    pool_helper helper[POOL_MOST_HELPERS];
    int helpers, wanted; /* started, and to be started in all */
    int ahead, firsts;   /* the item that it claims (-1: none), and how many of its configs were
                            handed out */
} pool_worker;

typedef struct pool {
    tune_run *run;
    int64_t memory; /* bytes that a child may use */
    double now;     /* by kiln_run_seconds(), in this turn of the loop */
    pool_worker *worker;
    int workers;
    bool stopping;
    tune_message m; /* in one place: it is large */
} pool;

/* pool_memory.c */

/* Returns the bytes that this process's control groups leave of the machine's. */
int64_t pool_memory_of_machine(void);

/* pool_stopped.c */

/* Returns whether a process is stopped now: its time does not count. */
bool pool_is_stopped(const tune_child *c);

/* pool_build.c */

/* Starts as many helpers as the device needs, unless that was done. */
void pool_start_helpers(pool *p, pool_worker *w);
void pool_kill_helpers(const pool_worker *w);
/* Returns the item that comes next for the worker, and claims it: what comes first there will be
 * compiled ahead, and other workers take other items while there are some. */
int pool_claim_next(const pool *p, pool_worker *w);
/* Ends the claim. */
void pool_end_claim(pool_worker *w);
/* Forgets the programs of the item before. */
void pool_forget_built(pool_worker *w);
/* Gives idle helpers what will be needed first, and lets the waiting trial go on when its programs
 * are there. */
void pool_feed(pool *p, pool_worker *w);
/* Takes a helper's message, or its end. */
void pool_hear_helper(pool *p, pool_worker *w, pool_helper *h);
/* Returns whether a trial or a compilation that takes so long is to be ended. */
bool pool_is_too_long(const pool *p, double seconds);
/* Ends helpers that take too long. */
void pool_check_helpers(pool *p, pool_worker *w);

#endif
