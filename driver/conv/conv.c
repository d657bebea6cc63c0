/* Checks a request and runs its directions, one after the other. */
#include "conv.h"

#include "driver/reference/reference_cache.h"

#include "direction.h"
#include "tensors.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Tells which flags have no effect, or another than they say. */
static void print_notes(const request *r)
{
    const flags *f = &r->flags;
    if (f->wall && !f->time)
        printf("Info: '--wall %d' is ignored because '--time' is not set\n", (int)f->wall);
    if (f->pad_mode != PAD_DEFAULT && f->mode == MODE_TRANS)
        printf("Info: '--pad_mode' is ignored because '--mode trans' is set\n");
    int64_t batch = r->source == REQUEST_FLAGS ? f->batch : r->base.batch;
    if (f->max_batch && batch > f->max_batch)
        printf("Info: a batch of %lld is cut to %lld by '--max-batchsize'\n", (long long)batch,
               (long long)f->max_batch);
}

int conv_run(const session *s, const request *r)
{
    const flags *f = &r->flags;
    dumps dumps = {.count = 0};
    char why[KILN_ERROR_TEXT];
    int worst = 0;
    bool lines = report_format_of(f) == REPORT_LINES;
    if (lines)
        print_notes(r);
    if (f->wall == 2 && f->time && !f->dry_run)
        direction_warm_up(s, r);
    for (int d = KILN_FORWARD; d <= KILN_BACKWARD_WEIGHTS; d++) {
        if (!request_wants(r, (kiln_direction)d))
            continue;
        int exit = direction_run(s, r, (kiln_direction)d, &dumps);
        if (exit == CONV_INTERRUPTED) {
            dump_discard(&dumps);
            return exit;
        }
        worst = worse_exit(worst, exit);
    }
    if (dump_commit(&dumps, !lines, why)) {
        fprintf(stderr, "kiln: %s\n", why);
        worst = worse_exit(worst, KILN_FILE);
    }
    return worst;
}

/* A folder that may only be read is of use, but its user may expect new results in it. */
static void warn_of_readonly(const char *folder)
{
    static bool warned;
    if (!warned && access(folder, W_OK | X_OK) != 0)
        fprintf(stderr, "kiln: warning: --verification_cache (-C) %s: %s; no result is added\n",
                folder, strerror(errno));
    warned = true;
}

kiln_status conv_check(request *r, char *why)
{
    const flags *f = &r->flags;
    kiln_problem p;
    kiln_status status = request_check(r, why);
    if (!status && *f->verification_cache && f->verify && !f->dry_run)
        if (!(status = reference_cache_check(f->verification_cache, why)))
            warn_of_readonly(f->verification_cache);
    for (int d = KILN_FORWARD; d <= KILN_BACKWARD_WEIGHTS && !status; d++)
        if (request_wants(r, (kiln_direction)d)) {
            status = request_problem(r, (kiln_direction)d, &p, why);
            if (!status)
                status = tensors_check_files(r, &p, why);
        }
    return status;
}

int conv_refuse(const request *r, kiln_status status, const char *why)
{
    outcome o = {.device = "none"};
    outcome_fail(&o, status, why);
    if (report_format_of(&r->flags) != REPORT_LINES)
        report_json_csv(report_format_of(&r->flags), &o);
    report_error(&o);
    return outcome_exit(&o);
}
