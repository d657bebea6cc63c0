/* The conv words: parse the flags, open the device, run one problem or a batch. */
#include "driver/base/trace.h"
#include "driver/help/help.h"

#include "batch.h"
#include "conv.h"

#include <stdio.h>

static int fail(kiln_status status, const char *why)
{
    fprintf(stderr, "kiln: %s\n", why);
    return (int)status;
}

/* The first line of MIOpenDriver's output is the command. */
static void echo(int argc, char **argv)
{
    printf("kiln");
    for (int i = 0; i < argc; i++)
        printf(" %s", argv[i]);
    printf("\n");
    fflush(stdout);
}

static int run(const request *r)
{
    session s;
    char why[KILN_ERROR_TEXT];
    kiln_status status =
        r->flags.dry_run ? session_open_dry(&s, why) : session_open(&s, r->flags.device, why);
    if (status)
        return conv_refuse(r, status, why);
    int exit = *r->flags.batch_file ? batch_run(&s, r) : conv_run(&s, r);
    session_close(&s);
    return exit;
}

int conv_command(int argc, char **argv)
{
    request r = {.word = argv[0]};
    char why[KILN_ERROR_TEXT];
    request_word(argv[0], &r.type);
    flags_init(&r.flags);
    kiln_status status = flags_parse(&r.flags, argc, argv, why);
    if (status)
        return fail(status, why);
    if (r.flags.help) {
        help_print(stdout);
        return 0;
    }
    if (r.flags.list_devices)
        return (status = device_list(stdout, why)) ? fail(status, why) : 0;
    if (!*r.flags.batch_file && (status = conv_check(&r, why)))
        return conv_refuse(&r, status, why);
    if ((status = trace_open(r.flags.trace, why)))
        return conv_refuse(&r, status, why);
    if (report_format_of(&r.flags) == REPORT_LINES)
        echo(argc, argv);
    const int exit = run(&r);
    status = trace_close(why);
    return status ? worse_exit(exit, fail(status, why)) : exit;
}
