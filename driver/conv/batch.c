/* Runs files of problems: a bad line is named and the rest goes on. */
#include "batch.h"

#include "request_list.h"

#include <stdio.h>

typedef struct batch {
    const session *session;
    const request *defaults;
    request_list_skipped skipped;
    int worst, ok, failed, unsupported, errors;
} batch;

static void count(batch *b, int exit)
{
    int *const counters[] = {&b->ok, &b->failed, &b->errors, &b->unsupported};
    ++*(exit >= 0 && exit <= 3 ? counters[exit] : &b->errors);
    b->worst = worse_exit(b->worst, exit);
}

static void refuse(batch *b, const request_list_item *item)
{
    char text[KILN_ERROR_TEXT + 320];
    snprintf(text, sizeof text, "%.255s line %lld: %s", item->file, item->number, item->why);
    count(b, conv_refuse(&item->request, item->status, text));
}

/* Returns false after Ctrl-C. */
static bool run_item(void *user, request_list_item *item)
{
    batch *b = user;
    const request *r = &item->request;
    char repro[REQUEST_REPRO_TEXT];
    if (item->status) {
        refuse(b, item);
        return true;
    }
    if (*item->entry->note)
        fprintf(stderr, "kiln: %.255s line %lld: not followed: %s\n", item->file, item->number,
                item->entry->note);
    if (report_format_of(&r->flags) == REPORT_LINES) {
        request_line(r, repro, sizeof repro);
        printf("%s%s%s\n", repro, *item->entry->name ? "  # " : "", item->entry->name);
        fflush(stdout);
    }
    int exit = conv_run(b->session, r);
    if (exit == CONV_INTERRUPTED)
        return false;
    count(b, exit);
    return true;
}

static int count_all(const batch *b)
{
    return b->ok + b->failed + b->unsupported + b->errors;
}

static int summarize(const batch *b, bool whole)
{
    const int total = count_all(b);
    FILE *to = report_format_of(&b->defaults->flags) == REPORT_LINES ? stdout : stderr;
    fflush(stdout);
    request_list_print_skipped(&b->skipped, to);
    fprintf(to, "%d problem%s: %d ok, %d failed, %d unsupported, %d error%s%s\n", total,
            total == 1 ? "" : "s", b->ok, b->failed, b->unsupported, b->errors,
            b->errors == 1 ? "" : "s", whole ? "" : " (interrupted)");
    return whole ? b->worst : CONV_INTERRUPTED;
}

int batch_run(const session *s, const request *defaults)
{
    batch b = {.session = s, .defaults = defaults};
    const char *name = defaults->flags.batch_file;
    bool whole;
    kiln_status status =
        request_list_read("--batch ", name, defaults, run_item, &b, &b.skipped, &whole);
    if (status && count_all(&b) == 0)
        return (int)status;
    b.worst = worse_exit(b.worst, (int)status);
    const int exit = summarize(&b, whole);
    if (exit || count_all(&b) > 0)
        return exit;
    char why[KILN_ERROR_TEXT];
    request_list_none(defaults, why);
    fprintf(stderr, "kiln: --batch %s: %s\n", name, why);
    return KILN_INVALID;
}
