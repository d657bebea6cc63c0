/* Prints MIOpen's lines (in the formats of its driver, version 2.12), then kiln's details.
 *
 * MIOpen prints some columns in another order than its header says, and counts wrong bytes. Here
 * the columns follow the header.
 */
#include "report.h"

#include "tensors.h"

#include <stdio.h>
#include <string.h>

kiln_status outcome_fail(outcome *o, kiln_status status, const char *text)
{
    o->status = status;
    snprintf(o->error, sizeof o->error, "%s", text);
    return status;
}

int outcome_exit(const outcome *o)
{
    bool wrong = o->verified && (!o->result.ok || (o->has_bias && !o->bias.ok));
    return wrong ? 1 : (int)o->status;
}

int worse_exit(int a, int b)
{
    return a == 1 || b == 1 ? 1 : a > b ? a : b;
}

verify_options verify_options_for(const request *r, const kiln_op_info *info, bool from_files)
{
    host_fill fill = (host_fill)r->flags.fill;
    return (verify_options){.amplification = info->amplification,
                            .exact = !from_files &&
                                     verify_can_be_exact(&info->problem, fill, info->amplification),
                            .arbitrary = from_files,
                            .poisoned = true,
                            .max_seconds = (double)r->flags.verify_ms / 1000,
                            .seed = (uint64_t)r->flags.seed,
                            .cache = r->flags.verification_cache};
}

report_format report_format_of(const flags *f)
{
    return f->json ? REPORT_JSON : f->csv ? REPORT_CSV : REPORT_LINES;
}

static const char *direction_title(kiln_direction direction)
{
    static const char *const titles[] = {"Forward Conv.", "Backward Data Conv.",
                                         "Backward Weights Conv."};
    return titles[direction];
}

const char *origin_word(kiln_origin origin)
{
    static const char *const words[] = {[KILN_ORIGIN_CHOICE] = "--config",
                                        [KILN_ORIGIN_USER_ROW] = "user row",
                                        [KILN_ORIGIN_SHIPPED_ROW] = "shipped row",
                                        [KILN_ORIGIN_GUESS] = "guess"};
    return words[origin];
}

const char *origin_name(const outcome *o)
{
    return o->searched ? "search" : origin_word(o->info.origin);
}

double problem_bytes(const kiln_problem *p, bool written)
{
    double bytes = 0;
    for (const char *t = "xwy"; *t; t++)
        if ((*t == reference_destination(p)) == written)
            bytes +=
                (double)kiln_problem_count(p, *t) * (double)kiln_type_size(tensors_type(p, *t));
    return bytes;
}

/* Prints the columns of problems with and without a depth; the header has filter sizes from W to D.
 */
static void print_stats(const outcome *o)
{
    static const char *const names[] = {"fwd-conv", "bwdd-conv", "bwdw-conv"};
    const kiln_problem *p = &o->problem;
    bool deep = p->spatial_rank == 3;
    long long filter[3] = {1, 1, 1}, out[3] = {1, 1, 1};
    for (int i = 0; i < p->spatial_rank; i++) {
        filter[3 - p->spatial_rank + i] = p->filter[i];
        out[3 - p->spatial_rank + i] = kiln_problem_output(p, i);
    }
    double flops = reference_flops(p), ms = o->time.average;
    double reads = problem_bytes(p, false), writes = problem_bytes(p, true);
    printf("stats: name, n, c, %sho, wo, %sx, y, k, flopCnt, bytesRead, bytesWritten, GFLOPs, "
           "GB/s, timeMs\n",
           deep ? "do, " : "", deep ? "z, " : "");
    printf("stats: %s", names[p->direction]);
    if (deep)
        printf("%lldx", filter[0]);
    printf("%lldx%lldu%lld, %lld, %lld, ", filter[1], filter[2],
           (long long)p->stride[p->spatial_rank == 1 ? 0 : p->spatial_rank - 2],
           (long long)p->batch, (long long)p->in_channels);
    if (deep)
        printf("%lld, ", out[0]);
    printf("%lld, %lld, ", out[1], out[2]);
    if (deep)
        printf("%lld, ", filter[0]);
    printf("%lld, %lld, %lld,  %.0f, %.0f, %.0f, %.0f, %.0f, %f\n", filter[2], filter[1],
           (long long)p->out_channels, flops, reads, writes, flops / ms / 1e6,
           (reads + writes) / ms / 1e6, ms);
}

/* Says why the time is not what the search has found, where it is much slower. */
static void compare_with_search(const outcome *o)
{
    enum { MANY = 10 };
    const double much = 1.25; /* two measurements on an idle machine differ by less */
    const timing *t = &o->time;
    if (!o->searched || t->average <= much * o->found_ms)
        return;
    if (t->runs < MANY)
        printf("    %lld run%s; the search's median of many is %g ms\n", (long long)t->runs,
               t->runs == 1 ? "" : "s", o->found_ms);
    else
        printf("    the search measured %g ms: the machine is slower or busier now\n", o->found_ms);
}

void report_timing(const outcome *o, bool wall)
{
    const char *title = direction_title(o->problem.direction);
    const timing *t = &o->time;
    if (wall)
        printf("Wall-clock Time %s Elapsed: %g ms, Auxiliary API calls: %g ms (GWSS: 0)\n", title,
               t->wall, t->create);
    printf("MIOpen %s Algorithm: %d, Solution: %d/%s\n", title, o->info.algorithm,
           o->info.solver_id, o->info.solver);
    printf("GPU Kernel Time %s Elapsed: %f ms (average)\n", title, t->average);
    print_stats(o);
    compare_with_search(o);
    if (t->pack > 0)
        printf("    weights packed in %g ms, once for many runs and not in these times\n", t->pack);
    /* The bias is added, or its gradient summed, inside the launches timed above. */
    if (o->problem.epilogue.bias && o->problem.direction == KILN_FORWARD)
        printf("GPU Kernel Time Forward Conv. Bias Elapsed: %f ms (fused)\n", 0.0);
    if (o->problem.epilogue.bias && o->problem.direction == KILN_BACKWARD_WEIGHTS)
        printf("GPU Kernel Time Backward Bias Conv. Elapsed: %f ms (fused)\n", 0.0);
}

/* Writes the index of element `linear` in the destination, such as "[1,5,27,0]". */
static void element_text(const kiln_problem *p, bool bias, int64_t linear, char *text, size_t size)
{
    int64_t dims[2 + KILN_MAX_RANK], at[2 + KILN_MAX_RANK];
    int n = bias ? 1 : 2 + p->spatial_rank;
    bool weights = p->direction == KILN_BACKWARD_WEIGHTS, data = p->direction == KILN_BACKWARD_DATA;
    if (bias) {
        dims[0] = p->out_channels;
    } else if (weights) {
        dims[0] = p->transposed ? p->in_channels : p->out_channels;
        dims[1] = (p->transposed ? p->out_channels : p->in_channels) / p->groups;
    } else {
        dims[0] = p->batch;
        dims[1] = data ? p->in_channels : p->out_channels;
    }
    for (int i = 0; !bias && i < p->spatial_rank; i++)
        dims[2 + i] = weights ? p->filter[i] : data ? p->input[i] : kiln_problem_output(p, i);
    for (int i = n - 1; i >= 0; i--) {
        at[i] = linear % dims[i];
        linear /= dims[i];
    }
    size_t length = 0;
    for (int i = 0; i < n && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%c%lld", i ? ',' : '[',
                                   (long long)at[i]);
    if (length < size)
        snprintf(text + length, size - length, "]");
}

static void print_verdict(const kiln_problem *p, const char *name, const verify_result *v,
                          bool bias)
{
    char where[128];
    bool close = v->rms < v->tolerance; /* false for NaN */
    if (v->ok && close)
        printf("%s Verifies OK on CPU reference (%g < %g)\n", name, v->rms, v->tolerance);
    else if (v->ok)
        printf("%s Verifies OK on CPU reference (%g)\n", name, v->rms);
    else
        printf("%s FAILED: %g %s %g, %lld of %lld elements are wrong\n", name, v->rms,
               close ? "<" : ">", v->tolerance, (long long)v->bad, (long long)v->checked);
    element_text(p, bias, v->max_abs_at, where, sizeof where);
    printf("    largest error %.4g at %s (element %lld: %.9g, reference %.9g); in ulp %.4g; "
           "at worst %.3g of an element's bound (%.4g); rms %.4g; ",
           v->max_abs, where, (long long)v->max_abs_at, v->got, v->expected, v->max_ulp, v->worst,
           v->bound, v->rms);
    if (v->nonfinite)
        printf("%lld rightly not finite; ", (long long)v->nonfinite);
    if (v->checked < v->total)
        printf("a sample of %lld of %lld elements checked\n", (long long)v->checked,
               (long long)v->total);
    else
        printf("all %lld elements checked\n", (long long)v->total);
}

void report_verdict(const outcome *o)
{
    static const char *const names[] = {"Forward Convolution", "Backward Convolution Data",
                                        "Backward Convolution Weights"};
    if (!o->verified)
        return;
    print_verdict(&o->problem, names[o->problem.direction], &o->result, false);
    if (o->dirty)
        printf("    %lld cells of the layout's padding are not zero\n", (long long)o->dirty);
    if (o->has_bias)
        print_verdict(&o->problem, "Backward Convolution Bias", &o->bias, true);
}

void report_error(const outcome *o)
{
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", o->status == KILN_UNSUPPORTED ? "unsupported" : "kiln", o->error);
}
