/* Who had the machine's cores for a while: this process, others, or other virtual machines. */
#ifndef KILN_MACHINE_LOAD_H
#define KILN_MACHINE_LOAD_H

#include <stdbool.h>

/* Times since the machine's start, in seconds of one core. */
typedef struct machine_load {
    double all, used, stolen; /* used: by all processes */
    double own;               /* of this process */
    bool known;
} machine_load;

/* Shares of all cores' time. */
typedef struct machine_share {
    double used; /* by other processes */
    double stolen;
} machine_share;

/* Reads the first line of Linux' /proc/stat. Returns false where it is no such line. */
bool machine_load_read(const char *line, double ticks_per_second, machine_load *load);

/* Returns the load as it is now; not known on systems that do not tell. */
machine_load machine_load_now(void);

/* Returns what others had between two moments; zeros where that is not known. */
machine_share machine_load_between(const machine_load *from, const machine_load *to);

#endif
