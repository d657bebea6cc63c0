/* Prints the road to the answer: what every solver says of a problem, the rows that speak of it,
 * and the plan that comes of it. */
#include "explain.h"

#include "driver/base/json_csv.h"
#include "driver/help/help.h"

#include "kiln_tune.h"
#include "conv.h"
#include "describe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MIOpen's number. */
enum { WINOGRAD = 3 };

/* Returns what is worth knowing of a solver's numbers. */
static const char *caution(const kiln_problem *p, const kiln_verdict *v)
{
    const bool integers = kiln_type_is_integer(p->x_type) || kiln_type_is_integer(p->y_type);
    return v->algorithm == WINOGRAD && !integers
               ? "; spreads NaN over tiles, overflows earlier: see --math exact"
               : "";
}

static double restaging_ms(const kiln_verdict *v)
{
    double ms = 0;
    for (int i = 0; i < v->nrestaged; i++)
        ms += v->restaged[i].predicted_ms;
    return ms;
}

/* Prints "; restages x, y (0.06 ms)". */
static void print_restaged(const kiln_verdict *v)
{
    for (int i = 0; i < v->nrestaged; i++)
        printf("%s%s", i ? ", " : "; restages ", v->restaged[i].tensor);
    if (v->nrestaged)
        printf(" (%.2g ms)", restaging_ms(v));
}

static void print_line(const kiln_problem *p, const kiln_verdict *v)
{
    printf("%c %-24s %5d  ", v->chosen ? '*' : ' ', v->solver, v->solver_id);
    if (!v->accepted) {
        printf("no: %s", v->reason);
        if (v->unlimited_ms > 0)
            printf("; without a limit %.4g ms predicted", v->unlimited_ms);
        printf("\n");
        return;
    }
    printf("%.4g ms predicted, workspace %lld bytes, config ", v->predicted_ms,
           (long long)v->workspace_size);
    if (*v->config)
        printf("%s (%s)", v->config, origin_word(v->origin));
    else
        printf("none");
    print_restaged(v);
    printf("%s\n", *v->config ? caution(p, v) : "");
}

/* Returns the solver that accepts, reads and writes all tensors as they lie, and is predicted to be
 * the fastest of these; NULL: there is none. */
static const kiln_verdict *stage_free(const kiln_verdict *all, int count)
{
    const kiln_verdict *best = NULL;
    for (int i = 0; i < count; i++)
        if (all[i].accepted && !all[i].nrestaged &&
            (!best || all[i].predicted_ms < best->predicted_ms))
            best = &all[i];
    return best;
}

/* Says which tensors of the chosen solver are moved, at what cost, and why that is better than to
 * leave them. */
static void print_layouts(const kiln_verdict *chosen, const kiln_verdict *free_of_stages)
{
    for (int i = 0; i < chosen->nrestaged; i++) {
        const kiln_restaged *r = &chosen->restaged[i];
        printf("%s %s is restaged from %s to %s: %.2g ms predicted of %.4g\n",
               i ? "       " : "layouts", r->tensor, r->from, r->to, r->predicted_ms,
               chosen->predicted_ms);
    }
    if (!free_of_stages)
        printf("        no solver reads and writes all tensors as they lie\n");
    else
        printf("        %s reads and writes all tensors as they lie, %.4g ms predicted: %s\n",
               free_of_stages->solver, free_of_stages->predicted_ms,
               chosen->origin == KILN_ORIGIN_GUESS ? "the stages pay" : "a row decides");
}

/* Says what a limit on workspaces costs: which solver would be faster without it. */
static void print_limited(const kiln_verdict *all, int count, const kiln_verdict *chosen)
{
    const kiln_verdict *best = NULL;
    for (int i = 0; i < count; i++)
        if (all[i].unlimited_ms > 0 && all[i].unlimited_ms < chosen->predicted_ms &&
            (!best || all[i].unlimited_ms < best->unlimited_ms))
            best = &all[i];
    if (best)
        printf("limit   %s is passed over, %.4g ms predicted without a limit: %s\n", best->solver,
               best->unlimited_ms, best->reason);
}

static void print_restaged_json(const kiln_verdict *v, const kiln_verdict *free_of_stages)
{
    printf(",\"restaged\":[");
    for (int i = 0; i < v->nrestaged; i++)
        printf("%s{\"tensor\":\"%s\",\"from\":\"%s\",\"to\":\"%s\",\"predicted_ms\":%.9g}",
               i ? "," : "", v->restaged[i].tensor, v->restaged[i].from, v->restaged[i].to,
               v->restaged[i].predicted_ms);
    printf("]");
    if (v->chosen && v->nrestaged && free_of_stages)
        printf(",\"without_stages\":\"%s\",\"without_stages_ms\":%.9g", free_of_stages->solver,
               free_of_stages->predicted_ms);
}

static void print_json(const char *key, const char *device, const kiln_verdict *v,
                       const kiln_verdict *free_of_stages)
{
    printf("{\"schema\":%d,\"problem\":\"%s\",\"device\":", REPORT_SCHEMA, key);
    json_string(stdout, device);
    printf(",\"solver\":\"%s\",\"solver_id\":%d,\"algorithm\":%d,\"accepted\":%s,\"chosen\":%s",
           v->solver, v->solver_id, v->algorithm, v->accepted ? "true" : "false",
           v->chosen ? "true" : "false");
    if (v->accepted) {
        printf(",\"predicted_ms\":%.9g,\"workspace\":%lld,\"origin\":\"%s\",\"config\":",
               v->predicted_ms, (long long)v->workspace_size, origin_word(v->origin));
        json_string(stdout, v->config);
        print_restaged_json(v, free_of_stages);
    } else {
        printf(",\"reason\":");
        json_string(stdout, v->reason);
        if (v->unlimited_ms > 0)
            printf(",\"unlimited_ms\":%.9g", v->unlimited_ms);
    }
    printf("}\n");
}

/* How a problem is explained, and how many rows were found. */
typedef struct explained {
    const char *key, *device;
    bool json;
    int rows;
} explained;

static const char *file_of(const kiln_row_verdict *v)
{
    return v->any_device ? "shipped, any device" : *v->device ? v->device : origin_word(v->origin);
}

static void print_row(void *user, const kiln_row_verdict *v)
{
    explained *e = user;
    const kiln_row *r = &v->row;
    char config[KILN_INFO_TEXT + 64];
    e->rows++;
    if (e->json) {
        printf("{\"schema\":%d,\"problem\":\"%s\",\"device\":", REPORT_SCHEMA, e->key);
        json_string(stdout, e->device);
        printf(",\"row\":");
        json_string(stdout, file_of(v));
        printf(",\"row_problem\":");
        json_string(stdout, r->key);
        printf(",\"solver\":");
        json_string(stdout, r->solver);
        printf(",\"version\":%d,\"config\":", r->version);
        json_string(stdout, r->config);
        printf(",\"ms\":%.9g,\"taken\":%s,\"reason\":", r->ms, v->taken ? "true" : "false");
        json_string(stdout, v->why);
        printf("}\n");
        return;
    }
    if (e->rows == 1)
        printf("rows (* decides)\n");
    snprintf(config, sizeof config, "%s%s%s", r->config, *r->config ? " of " : "", r->solver);
    printf("%c %s: %s: %s, ", v->taken ? '*' : ' ', file_of(v), r->key, config);
    if (r->ms > 0)
        printf("%.4g ms", r->ms);
    else
        printf("no time");
    printf("%s%s\n", v->taken ? "" : ": ", v->why);
}

static void explain_rows(const session *s, const kiln_problem *p, explained *e)
{
    kiln_explain_rows(s->kiln, p, print_row, e);
    if (e->rows > 0 || e->json)
        return;
    const char *user = kiln_rows_file(s->kiln), *shipped = kiln_shipped_dir(s->kiln);
    printf("rows    none of this problem in %s (the user's), nor in %s (shipped)\n",
           *user ? user : "no file", *shipped ? shipped : "no folder");
}

static void print_stage_json(const explained *e, const kiln_op *op, int index)
{
    kiln_stage_info s;
    char local[80], global[80];
    if (kiln_op_stage(op, index, &s))
        return;
    printf("{\"schema\":%d,\"problem\":\"%s\",\"device\":", REPORT_SCHEMA, e->key);
    json_string(stdout, e->device);
    printf(",\"stage\":%d,\"kernel\":\"%s\",\"template\":\"%s\",\"packs_weights\":%s,\"options\":",
           index, s.kernel, s.template_file, s.packs_weights ? "true" : "false");
    json_string(stdout, s.options);
    printf(",\"local\":\"%s\",\"global\":\"%s\"}\n", sizes_text(s.local, 3, local, sizeof local),
           sizes_text(s.launched, 3, global, sizeof global));
}

/* Prints what kiln conv would run: compile options and sizes of the launches. */
static void print_plan(void *user, const kiln_op *op)
{
    const explained *e = user;
    outcome o = {.device = e->device};
    kiln_op_describe(op, &o.info);
    for (int i = 0; i < o.info.stages && e->json; i++)
        print_stage_json(e, op, i);
    if (!e->json) {
        printf("plan\n");
        describe_plan(&o, op);
    }
}

/* Returns what every solver says, on the heap; NULL: out of memory. */
static kiln_verdict *collect_verdicts(kiln *k, const kiln_problem *p, int *count)
{
    enum { MOST = 128 };
    kiln_verdict *all = calloc(MOST, sizeof *all);
    for (*count = 0; all && *count < MOST && kiln_explain(k, p, *count, &all[*count]) == KILN_OK;)
        ++*count;
    return all;
}

/* Returns whether a solver accepts. */
static bool print_verdicts(const kiln_problem *p, const explained *e, const kiln_verdict *all,
                           int count)
{
    const kiln_verdict *chosen = NULL, *free_of_stages = stage_free(all, count);
    bool accepted = false;
    for (int i = 0; i < count; i++) {
        accepted |= all[i].accepted;
        chosen = all[i].chosen ? &all[i] : chosen;
        if (e->json)
            print_json(e->key, e->device, &all[i], free_of_stages);
        else
            print_line(p, &all[i]);
    }
    if (!e->json && chosen && chosen->nrestaged)
        print_layouts(chosen, free_of_stages);
    if (!e->json && chosen)
        print_limited(all, count, chosen);
    return accepted;
}

/* Returns whether a solver accepts. */
static bool explain_problem(const session *s, const kiln_problem *p, bool json, bool first)
{
    char key[KILN_KEY_TEXT];
    explained e = {.key = key, .device = s->name, .json = json};
    kiln_problem_text(p, key, sizeof key);
    if (!json)
        printf("%sproblem %s\ndevice  %s\n  %-24s %5s  %s\n", first ? "" : "\n", key, s->name,
               "solver", "id", "verdict (* is what kiln conv runs)");
    int count = 0;
    kiln_verdict *all = collect_verdicts(s->kiln, p, &count);
    if (!all) {
        fprintf(stderr, "kiln explain: out of memory\n");
        return false;
    }
    const bool accepted = print_verdicts(p, &e, all, count);
    free(all);
    explain_rows(s, p, &e);
    if (accepted)
        kiln_conv_show(s->kiln, p, NULL, print_plan, &e);
    return accepted;
}

static int explain(const request *r)
{
    session s;
    char why[KILN_ERROR_TEXT];
    kiln_problem p;
    kiln_status status =
        r->flags.dry_run ? session_open_dry(&s, why) : session_open(&s, r->flags.device, why);
    if (status)
        return conv_refuse(r, status, why);
    int worst = 0;
    bool first = true;
    for (int d = KILN_FORWARD; d <= KILN_BACKWARD_WEIGHTS; d++) {
        if (!request_wants(r, (kiln_direction)d) || request_problem(r, (kiln_direction)d, &p, why))
            continue;
        if (!explain_problem(&s, &p, r->flags.json, first))
            worst = KILN_UNSUPPORTED;
        first = false;
    }
    session_close(&s);
    return worst;
}

int explain_command(int argc, char **argv)
{
    request r = {.word = "conv", .type = KILN_F32};
    char why[KILN_ERROR_TEXT];
    if (argc > 1 && request_word(argv[1], &r.type)) {
        r.word = argv[1];
        argc--;
        argv++;
    }
    flags_init(&r.flags);
    kiln_status status = flags_parse(&r.flags, argc, argv, why);
    if (!status && r.flags.help) {
        help_print(stdout);
        return 0;
    }
    if (!status && (*r.flags.batch_file || r.flags.csv)) {
        snprintf(why, sizeof why,
                 "explain takes one problem at a time and prints lines or --json; leave out "
                 "--batch and --csv");
        status = KILN_INVALID;
    }
    if (!status)
        status = conv_check(&r, why);
    return status ? conv_refuse(&r, status, why) : explain(&r);
}
