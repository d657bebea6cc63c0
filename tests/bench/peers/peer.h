/* A peer in a process of its own, which times problems that it is told by name. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct peer {
    FILE *to, *from;
    pid_t process;  /* 0: there is no peer */
    char what[200]; /* what it says of itself, or why there is none */
} peer;

/* Starts `python3 script`. Returns false, with the reason in p->what, where it cannot time
 * anything. */
bool peer_start(peer *p, const char *script);
/* Returns the time of one run in ms, with the format in `format`; negative: the peer does not do
 * the problem, and `format` is the reason. */
double peer_time(peer *p, const char *problem, char *format, size_t size);
void peer_end(peer *p);

#endif
