/* Starts the peer with a pipe in each direction and speaks in lines. */
#include "peer.h"

#include "tests/bench/base/cpus.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void become_peer(const int to[2], const int from[2], const char *script)
{
    dup2(to[0], STDIN_FILENO);
    dup2(from[1], STDOUT_FILENO);
    close(to[0]);
    close(to[1]);
    close(from[0]);
    close(from[1]);
    cpus_use_all();
    execlp("python3", "python3", script, (char *)NULL);
    printf("none python3 cannot be started\n");
    fflush(stdout);
    _exit(127);
}

static bool read_line(peer *p, char *line, size_t size)
{
    if (!p->from || !fgets(line, (int)size, p->from))
        return false;
    line[strcspn(line, "\n")] = '\0';
    return true;
}

bool peer_start(peer *p, const char *script)
{
    int to[2], from[2];
    *p = (peer){0};
    if (pipe(to) || pipe(from)) {
        snprintf(p->what, sizeof p->what, "no pipe to a peer");
        return false;
    }
    signal(SIGPIPE, SIG_IGN);
    fflush(stdout);
    p->process = fork();
    if (p->process == 0)
        become_peer(to, from, script);
    close(to[0]);
    close(from[1]);
    p->to = fdopen(to[1], "w");
    p->from = fdopen(from[0], "r");
    if (p->process > 0 && read_line(p, p->what, sizeof p->what) && strncmp(p->what, "none", 4) != 0)
        return true;
    if (!*p->what)
        snprintf(p->what, sizeof p->what, "none the peer says nothing");
    memmove(p->what, p->what + strcspn(p->what, " ") + 1, strlen(p->what) - strcspn(p->what, " "));
    peer_end(p);
    return false;
}

double peer_time(peer *p, const char *problem, char *format, size_t size)
{
    char line[512];
    char *end;
    snprintf(format, size, "the peer has ended");
    if (!p->process || fprintf(p->to, "%s\n", problem) < 0 || fflush(p->to) ||
        !read_line(p, line, sizeof line))
        return -1;
    const double ms = strtod(line, &end);
    const bool timed = end != line;
    if (!timed)
        end = line + strcspn(line, " ");
    snprintf(format, size, "%s", *end ? end + 1 : "");
    return timed ? ms : -1;
}

void peer_end(peer *p)
{
    if (p->to)
        fclose(p->to);
    if (p->from)
        fclose(p->from);
    if (p->process > 0)
        waitpid(p->process, NULL, 0);
    p->to = p->from = NULL;
    p->process = 0;
}
