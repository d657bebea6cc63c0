/* `kiln tune`: reads the command line and the files, runs, shows the result. */
#include "tune_command.h"

#include "driver/base/trace.h"
#include "driver/conv/conv.h"

#include "tune_rounds.h"
#include "tune_show.h"

#include <stdio.h>
#include <stdlib.h>

static int fail(kiln_status status, const char *why)
{
    fprintf(stderr, "kiln tune: %s\n", why);
    return (int)status;
}

/* Writes into each log that the searches so far do not count any more. */
static kiln_status start_over(tune_run *run, char *why)
{
    kiln_status status = KILN_OK;
    for (int k = 0; k < run->kinds; k++)
        for (size_t i = 0; i < run->list->count && !status; i++) {
            tune_kind *kind = &run->kind[k];
            kiln_trial_line line;
            kiln_trial_line_fill(&line, NULL, &run->list->item[i].problem, NULL);
            line.kind = KILN_LINE_SEARCH;
            snprintf(line.device, sizeof line.device, "%s", kind->device.device);
            snprintf(line.driver, sizeof line.driver, "%s", kind->device.driver);
            snprintf(line.core, sizeof line.core, "%s", kind->device.core);
            snprintf(line.verdict, sizeof line.verdict, "restarted");
            status = kiln_trials_append(kind->log, &line);
            if (!status && !trial_book_add(kind->book, &line))
                status = KILN_NO_MEMORY;
        }
    if (status)
        snprintf(why, KILN_ERROR_TEXT, "%.*s", KILN_ERROR_TEXT - 1,
                 status == KILN_NO_MEMORY ? "out of memory" : kiln_last_error());
    return status;
}

static void print_list(const tune_list *list, bool sharded)
{
    for (size_t i = 0; i < list->count; i++)
        printf("%s%s%lld\n", list->item[i].name, "  # ", (long long)list->item[i].count);
    request_list_print_skipped(&list->skipped, stderr);
    fprintf(stderr, "%zu problem%s", list->count, list->count == 1 ? "" : "s");
    if (sharded)
        fprintf(stderr, ", %d of other shards", list->unwanted);
    fputs("\n", stderr);
}

static int run_list(const tune_options *o, const tune_list *list, report_format format)
{
    tune_run *run = malloc(sizeof *run);
    char why[KILN_ERROR_TEXT];
    if (list->count == 0) /* its file says so, too */
        fprintf(stderr, "kiln tune: this shard has none of the %zu problems\n", list->whole);
    if (!run)
        return fail(KILN_NO_MEMORY, "out of memory");
    kiln_status status = tune_run_open(run, o, list, why);
    if (!status && o->fresh)
        status = start_over(run, why);
    if (!status && list->count > 0)
        status = (o->isolate ? tune_pool : tune_here)(run, why);
    if (!status && (status = tune_rounds_end(run)))
        snprintf(why, sizeof why, "%.*s", KILN_ERROR_TEXT - 1, kiln_last_error());
    const int exit = status ? fail(status, why) : tune_show_end(run, format);
    tune_run_close(run);
    free(run);
    return exit;
}

static int tune(const tune_options *o, const request *defaults, const char **files, int nfiles)
{
    tune_list list;
    char why[KILN_ERROR_TEXT];
    kiln_status status = tune_list_read(&list, o, defaults, files, nfiles, why);
    int exit;
    if (!status) {
        tune_list_shard(&list, o);
        if (o->profile)
            tune_list_by_weight(&list);
    }
    if (status)
        exit = fail(status, why);
    else if (o->dry_run) {
        print_list(&list, o->shard_count > 1);
        exit = list.worst;
    } else if ((status = trace_open(defaults->flags.trace, why))) {
        exit = fail(status, why);
    } else {
        exit = run_list(o, &list, report_format_of(&defaults->flags));
        if ((status = trace_close(why)))
            exit = worse_exit(exit, fail(status, why));
    }
    tune_list_free(&list);
    return exit;
}

int tune_command(int argc, char **argv)
{
    request defaults = {.word = "conv", .type = KILN_F32};
    tune_options options;
    char why[KILN_ERROR_TEXT];
    int nfiles;
    const char **files = malloc((size_t)argc * sizeof *files);
    flags_init(&defaults.flags);
    if (!files)
        return fail(KILN_NO_MEMORY, "out of memory");
    kiln_status status = tune_options_parse(&options, &defaults, files, &nfiles, argc, argv, why);
    int exit = 0;
    if (status)
        exit = fail(status, why);
    else if (options.help || defaults.flags.help)
        tune_options_help(stdout);
    else if (nfiles == 0)
        exit = fail(KILN_INVALID, "name a file of problems, or - for standard input; kiln tune "
                                  "--help explains");
    else
        exit = tune(&options, &defaults, files, nfiles);
    free(files);
    return exit;
}
