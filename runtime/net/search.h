/* The layouts of a network's tensors with the lowest time of the whole: dynamic programming over
 * the layouts of the tensors that later steps still read. Pure: times in, layouts out. */
#ifndef KILN_NET_SEARCH_H
#define KILN_NET_SEARCH_H

#include <stdbool.h>

enum { KILN_NET_LAYOUTS = 6, KILN_NET_LIVE = 64 };

/* ms[a][b]: of reading a tensor in its layout a for a result in layout b. INFINITY: cannot be. */
typedef double kiln_layout_times[KILN_NET_LAYOUTS][KILN_NET_LAYOUTS];

/* Step i writes tensor i, in one of a few layouts. */
typedef struct kiln_net_step {
    int sources;
    const int *from;              /* numbers of tensors of earlier steps, one for each source */
    const kiln_layout_times *ms;  /* likewise */
    int layouts;                  /* of its own tensor, at least 1 */
    double own[KILN_NET_LAYOUTS]; /* the time that depends on the layout of the result alone */
} kiln_net_step;

typedef enum kiln_net_found {
    KILN_NET_EXACT,    /* no other layouts take less time */
    KILN_NET_GOOD,     /* the best assignment that was kept; there were too many to keep all */
    KILN_NET_NONE,     /* every assignment has a step that cannot be */
    KILN_NET_TOO_MANY, /* more than KILN_NET_LIVE tensors are in use at once */
    KILN_NET_NO_MEMORY
} kiln_net_found;

/* Sets layout[i] for each step, and *ms to the time of the whole. */
kiln_net_found kiln_net_search(const kiln_net_step *steps, int count, int *layout, double *ms);

#endif
