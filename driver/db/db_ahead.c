/* PoCL compiles one program at a time in a process, into a cache on disk that all processes share.
 * A process takes the number of a row, compiles, and answers with a byte.
 */
#include "db_ahead.h"

#include "driver/base/session.h"
#include "driver/conv/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void compile(kiln *k, const kiln_problem *p, const char *solver, const char *config)
{
    const kiln_choice choice = {
        .solver = solver, .config = *config ? config : NULL, .ignore_rows = 1};
    kiln_op *op = NULL;
    if (kiln_conv_create(k, p, &choice, &op) == KILN_OK)
        kiln_op_warm(op);
    kiln_op_release(op);
}

/* What cannot be compiled fails again where it is measured, which tells why. A row that is the
 * guess is not measured. */
static void compile_row(kiln *k, const kiln_row *row)
{
    kiln_problem p;
    kiln_op_info guess;
    if (kiln_row_guess(k, row, &p, &guess) ||
        (strcmp(guess.solver, row->solver) == 0 && strcmp(guess.config, row->config) == 0))
        return;
    compile(k, &p, row->solver, row->config);
    compile(k, &p, guess.solver, guess.config);
}

/* The process ends with the one that started it, whose end of the socket closes then. */
static void serve(int fd, db_piece *const *rows)
{
    session s;
    char why[KILN_ERROR_TEXT];
    size_t row;
    /* The process ends when its work is done, and not before what a Ctrl-C ends has noticed it. */
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    session_quiet();
    if (session_open(&s, NULL, why))
        _exit(1);
    while (read(fd, &row, sizeof row) == (ssize_t)sizeof row) {
        compile_row(s.kiln, rows[row]->row);
        if (send(fd, "", 1, MSG_NOSIGNAL) != 1)
            break;
    }
    _exit(0);
}

static int count_cpus(void)
{
    cpu_set_t may;
    return sched_getaffinity(0, sizeof may, &may) == 0 ? CPU_COUNT(&may) : 1;
}

void db_ahead_start(db_ahead *a, db_piece *const *rows, int jobs)
{
    *a = (db_ahead){.count = 0};
    const int wanted = jobs > 0 ? jobs : count_cpus();
    fflush(NULL);
    while (a->count < wanted && a->count < DB_AHEAD_MOST) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
            return;
        const pid_t pid = fork();
        if (pid == 0) {
            for (int i = 0; i < a->count; i++)
                close(a->process[i].fd); /* else it would keep the others from ending */
            close(pair[0]);
            serve(pair[1], rows);
        }
        close(pair[1]);
        if (pid < 0) {
            close(pair[0]);
            return;
        }
        a->process[a->count].pid = pid;
        a->process[a->count].fd = pair[0];
        a->process[a->count++].busy = false;
    }
}

static void forget(db_ahead *a, int i)
{
    close(a->process[i].fd);
    a->process[i].fd = -1;
    a->process[i].busy = false;
    while (waitpid(a->process[i].pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* Waits until a process that compiles has answered. Returns its number; -1: none compiles, or a
 * signal has come. */
static int wait_for_one(const db_ahead *a)
{
    struct pollfd at[DB_AHEAD_MOST];
    int which[DB_AHEAD_MOST], n = 0;
    for (int i = 0; i < a->count; i++)
        if (a->process[i].busy) {
            at[n] = (struct pollfd){.fd = a->process[i].fd, .events = POLLIN};
            which[n++] = i;
        }
    while (n > 0 && !interrupt_came()) {
        if (poll(at, (nfds_t)n, 100) <= 0)
            continue;
        for (int i = 0; i < n; i++)
            if (at[i].revents)
                return which[i];
    }
    return -1;
}

/* Gives a row to a process that waits. Returns false where none does. */
static bool give(db_ahead *a, size_t row, size_t place)
{
    for (int i = 0; i < a->count; i++) {
        if (a->process[i].fd < 0 || a->process[i].busy)
            continue;
        if (send(a->process[i].fd, &row, sizeof row, MSG_NOSIGNAL) == (ssize_t)sizeof row) {
            a->process[i].busy = true;
            a->process[i].row = place;
            return true;
        }
        forget(a, i);
    }
    return false;
}

void db_ahead_compile(db_ahead *a, const size_t *index, size_t n, bool *lost)
{
    for (size_t i = 0; i < n; i++)
        lost[i] = false;
    for (size_t next = 0;;) {
        while (next < n && give(a, index[next], next))
            next++;
        const int i = wait_for_one(a);
        char answer;
        if (i < 0)
            return;
        const bool done = read(a->process[i].fd, &answer, 1) == 1;
        a->process[i].busy = false;
        if (!done) {
            lost[a->process[i].row] = !interrupt_came();
            forget(a, i);
        }
    }
}

void db_ahead_end(db_ahead *a)
{
    for (int i = 0; i < a->count; i++)
        if (a->process[i].fd >= 0) {
            if (a->process[i].busy) /* a signal ended the command */
                kill(a->process[i].pid, SIGTERM);
            forget(a, i);
        }
    a->count = 0;
}
