/* The command `kiln`: finds the word and runs it. */
#include "driver/base/session.h"
#include "driver/conv/conv.h"
#include "driver/help/help.h"

#include "words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* "MIOpenDriver", "./bin/MIOpenDriver" or "bin\\MIOpenDriver.exe", the beginning of a pasted line.
 */
static bool is_foreign_driver(const char *word)
{
    static const char *const names[] = {"MIOpenDriver", "MIOpenDriver.exe"};
    size_t length = strlen(word);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (length >= n && strcmp(word + length - n, names[i]) == 0 &&
            (length == n || strchr("/\\", word[length - n - 1])))
            return true;
    }
    return false;
}

static int run(int argc, char **argv)
{
    argc--;
    argv++;
    if (argc && is_foreign_driver(*argv)) {
        argc--;
        argv++;
    }
    if (!argc) {
        help_usage(stderr);
        return KILN_INVALID;
    }
    const driver_word *word = driver_word_wanted(*argv);
    if (!word)
        return KILN_INVALID;
    if (!word->follow && argc > 1) {
        fprintf(stderr, "kiln: %s takes no words or flags, but got '%.60s'\n", *argv, argv[1]);
        return KILN_INVALID;
    }
    return word->run(argc, argv);
}

/* Where a standard stream is closed, the next file to be opened would take its place and receive
 * what is printed. Opens /dev/null there, in the direction that makes every use fail. */
static void fill_closed_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return; /* without /dev/null there is no remedy */
}

/* Fails where standard output could not be written: the results reached nobody. */
int main(int argc, char **argv)
{
    fill_closed_streams();
    int status = run(argc, argv);
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "kiln: standard output: %s\n",
            errno ? strerror(errno) : "not everything was written");
    return worse_exit(status, KILN_FILE);
}
