/* The table of words, and the short words themselves. */
#include "words.h"

#include "driver/base/session.h"
#include "driver/conv/conv.h"
#include "driver/conv/explain.h"
#include "driver/conv/prepare.h"
#include "driver/conv/report.h"
#include "driver/db/db_command.h"
#include "driver/doctor/doctor_command.h"
#include "driver/emit/emit_command.h"
#include "driver/help/help.h"
#include "driver/layout/layout_command.h"
#include "driver/model/model_command.h"
#include "driver/report/report_command.h"
#include "driver/tune/tune_command.h"

#include "cache_command.h"
#include "completion_command.h"

#include <stdio.h>
#include <string.h>

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
static int complete(int argc, char **argv);

static const driver_word words[] = {
    {"conv", conv_command, WORD_FLAGS},
    {"convfp16", conv_command, WORD_FLAGS},
    {"convbfp16", conv_command, WORD_FLAGS},
    {"convint8", conv_command, WORD_FLAGS},
    {"convfp8", conv_command, WORD_FLAGS},
    {"convbfp8", conv_command, WORD_FLAGS},
    {"emit", emit_command, WORD_OWN | WORD_FLAGS | WORD_TYPE},
    {"explain", explain_command, WORD_FLAGS | WORD_TYPE},
    {"prepare", prepare_command, WORD_OWN},
    {"model", model_command, WORD_OWN | WORD_FLAGS},
    {"tune", tune_command, WORD_OWN | WORD_FLAGS},
    {"report", report_command, WORD_OWN},
    {"cache", cache_command, WORD_OWN},
    {"layout", layout_command, WORD_OWN},
    {"db", db_command, WORD_OWN},
    {"doctor", doctor_command, WORD_OWN},
    {"completion", completion_command, WORD_OWN},
    {"env", env_command, 0},
    {"help", help_command, WORD_WORD},
    {"--help", help_command, WORD_WORD},
    {"-h", help_command, WORD_WORD},
    {"-?", help_command, WORD_WORD},
    {"version", version_command, 0},
    {"--version", version_command, 0},
    {"--list-devices", list_command, 0},
    {"__complete", complete, WORD_ANY},
    {NULL, NULL, 0},
};

const driver_word *driver_word_wanted(const char *word)
{
    const driver_word *w = driver_word_find(words, word);
    if (!w) {
        fprintf(stderr, "kiln: unknown word '%.60s'\n", word);
        help_usage(stderr);
    }
    return w;
}

/* Prints the help of a word that has one of its own, else that of all. */
static int help_command(int argc, char **argv)
{
    char *asked[] = {argc > 1 ? argv[1] : argv[0], "--help", NULL};
    const driver_word *word = driver_word_wanted(asked[0]);
    if (!word)
        return KILN_INVALID;
    if (word->follow & WORD_OWN)
        return word->run(2, asked);
    help_print(stdout);
    return 0;
}

static int complete(int argc, char **argv)
{
    return complete_command(words, argc, argv);
}
