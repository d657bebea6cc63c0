/* What the processes of `kiln tune` tell each other, over a socket that keeps messages apart. */
#ifndef KILN_TUNE_MESSAGE_H
#define KILN_TUNE_MESSAGE_H

#include "tune_problem.h"

enum { TUNE_AHEAD = 24 };

typedef enum tune_message_kind {
    /* from a child */
    MESSAGE_DEVICE,   /* a device that was asked for */
    MESSAGE_READY,    /* its device is open */
    MESSAGE_FAIL,     /* it is not: status, why */
    MESSAGE_UPCOMING, /* a trial is about to begin, and waits for MESSAGE_GO: line, next */
    MESSAGE_BEGIN,    /* it begins, after MESSAGE_GO: line */
    MESSAGE_TRIAL,    /* it has ended: line */
    MESSAGE_REPEATED, /* it has ended, and the log has it from an earlier search */
    MESSAGE_RESULT,   /* of an item */
    MESSAGE_BUILT,    /* the programs of a config have been compiled, or do not compile */
    /* to a child */
    MESSAGE_TUNE,        /* item, slice */
    MESSAGE_GO,          /* count: which of the upcoming trials, from 0 */
    MESSAGE_STOP,        /* after the trial */
    MESSAGE_BUILD,       /* line.problem, next[0] */
    MESSAGE_BUILD_FIRST, /* of an item, the config that comes count-th by prediction, from 0 */
} tune_message_kind;

/* A device, as a child that opened it describes it. */
typedef struct tune_device {
    char spec[160]; /* for session_open() */
    char name[200]; /* as session has it */
    char device[128], driver[128], core[24];
    char rows_file[4096];
    bool cpu;
} tune_device;

/* A config whose programs are needed. */
typedef struct tune_next {
    char solver[48], config[KILN_INFO_TEXT];
} tune_next;

typedef struct tune_message {
    tune_message_kind kind;
    int item;
    tune_slice slice;
    double best_ms, guess_ms;
    kiln_status status;
    char why[512];
    kiln_trial_line line;
    int count; /* of next */
    tune_next next[TUNE_AHEAD];
    tune_result result;
    tune_device device;
} tune_message;

/* Send and receive whole messages. Receiving waits for one unless `now`. Return false where the
 * other side is gone, or (`now`) there is none. */
bool tune_send(int fd, const tune_message *m);
bool tune_receive(int fd, tune_message *m, bool now);

#endif
