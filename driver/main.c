/* The command `kiln`: one table of words. */
#include "driver/base/session.h"
#include "driver/conv/conv.h"
#include "driver/conv/explain.h"
#include "driver/conv/prepare.h"
#include "driver/conv/report.h"
#include "driver/db/db_command.h"
#include "driver/emit/emit_command.h"
#include "driver/help/help.h"
#include "driver/layout/layout_command.h"
#include "driver/model/model_command.h"
#include "driver/report/report_command.h"
#include "driver/tune/tune_command.h"

#include "cache_command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int list_command(int argc, char **argv)
{
    char why[KILN_ERROR_TEXT];
    (void)argc;
    (void)argv;
    kiln_status status = device_list(stdout, why);
    if (status)
        fprintf(stderr, "kiln: %s\n", why);
    return (int)status;
}

static int version_command(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    printf("kiln (version: %s), built with %s %s for OpenCL %d.%d\n", kiln_version(),
#ifdef __clang__
           "clang", __clang_version__,
#else
           "gcc", __VERSION__,
#endif
           CL_TARGET_OPENCL_VERSION / 100, CL_TARGET_OPENCL_VERSION / 10 % 10);
    return 0;
}

static int help_command(int argc, char **argv);

/* What may stand behind a word. */
typedef enum follow {
    FLAGS, /* the flags of conv; behind help, a word */
    OWN,   /* flags of its own, with a --help of its own */
    ALONE  /* nothing */
} follow;

static const struct {
    const char *word;
    int (*run)(int argc, char **argv); /* argv[0] is the word */
    follow follow;
} words[] = {
    {"conv", conv_command, FLAGS},
    {"convfp16", conv_command, FLAGS},
    {"convbfp16", conv_command, FLAGS},
    {"convint8", conv_command, FLAGS},
    {"convfp8", conv_command, FLAGS},
    {"convbfp8", conv_command, FLAGS},
    {"emit", emit_command, OWN},
    {"explain", explain_command, FLAGS},
    {"prepare", prepare_command, OWN},
    {"model", model_command, OWN},
    {"tune", tune_command, OWN},
    {"report", report_command, OWN},
    {"cache", cache_command, OWN},
    {"layout", layout_command, OWN},
    {"db", db_command, OWN},
    {"env", env_command, ALONE},
    {"help", help_command, FLAGS},
    {"--help", help_command, FLAGS},
    {"-h", help_command, FLAGS},
    {"-?", help_command, FLAGS},
    {"version", version_command, ALONE},
    {"--version", version_command, ALONE},
    {"--list-devices", list_command, ALONE},
};

/* Returns the index of a word; -1: there is none, and the user has been told. */
static int find_word(const char *word)
{
    for (int i = 0; i < (int)(sizeof words / sizeof *words); i++)
        if (strcmp(words[i].word, word) == 0)
            return i;
    fprintf(stderr, "kiln: unknown word '%.60s'\n", word);
    help_usage(stderr);
    return -1;
}

/* Prints the help of a word that has one of its own, else that of all. */
static int help_command(int argc, char **argv)
{
    char *asked[] = {argc > 1 ? argv[1] : argv[0], "--help", NULL};
    const int i = find_word(asked[0]);
    if (i < 0)
        return KILN_INVALID;
    if (words[i].follow == OWN)
        return words[i].run(2, asked);
    help_print(stdout);
    return 0;
}

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
    const int i = find_word(*argv);
    if (i < 0)
        return KILN_INVALID;
    if (words[i].follow == ALONE && argc > 1) {
        fprintf(stderr, "kiln: %s takes no words or flags, but got '%.60s'\n", *argv, argv[1]);
        return KILN_INVALID;
    }
    return words[i].run(argc, argv);
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
