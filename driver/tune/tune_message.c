/* Sends and receives the messages of `kiln tune`. */
#include "tune_message.h"

#include <errno.h>
#include <sys/socket.h>

bool tune_send(int fd, const tune_message *m)
{
    ssize_t done;
    do
        done = send(fd, m, sizeof *m, MSG_NOSIGNAL);
    while (done < 0 && errno == EINTR);
    return done == (ssize_t)sizeof *m;
}

bool tune_receive(int fd, tune_message *m, bool now)
{
    ssize_t got;
    do
        got = recv(fd, m, sizeof *m, now ? MSG_DONTWAIT : 0);
    while (got < 0 && errno == EINTR && !now);
    return got == (ssize_t)sizeof *m;
}
