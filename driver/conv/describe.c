/* Prints plans, origins of configs, and lists of solvers. */
#include "describe.h"

#include <string.h>

const char *sizes_text(const size_t *sizes, int count, char *text, size_t size)
{
    size_t length = 0;
    *text = '\0';
    for (int i = 0; i < count && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%zu", i ? "x" : "", sizes[i]);
    return text;
}

static void print_stage(const kiln_op *op, int index)
{
    kiln_stage_info s;
    char text[80];
    if (kiln_op_stage(op, index, &s))
        return;
    if (!*s.kernel) {
        printf("stage %d            clears its buffer\n", index);
        return;
    }
    printf("stage %d            kernel %s of %s%s\n", index, s.kernel, s.template_file,
           s.packs_weights ? ", packs the weights" : "");
    printf("  compile options  %s\n", s.options);
    printf("  local size       %s\n", sizes_text(s.local, 3, text, sizeof text));
    printf("  groups           %zu\n", s.groups);
    printf("  global size      %s\n", sizes_text(s.global, 3, text, sizeof text));
    if (memcmp(s.global, s.launched, sizeof s.global) != 0)
        printf("  launched         %s (whole groups)\n",
               sizes_text(s.launched, 3, text, sizeof text));
}

void describe_plan(const outcome *o, const kiln_op *op)
{
    const kiln_problem *p = &o->info.problem;
    char text[KILN_KEY_TEXT];
    size_t out[KILN_MAX_RANK];
    kiln_problem_text(p, text, sizeof text);
    printf("problem            %s\n", text);
    if (kiln_problem_miopen_key(p, text, sizeof text))
        printf("MIOpen's key       %s\n", text);
    for (int i = 0; i < p->spatial_rank; i++)
        out[i] = (size_t)kiln_problem_output(p, i);
    printf("output size        %s\n", sizes_text(out, p->spatial_rank, text, sizeof text));
    printf("solver             %d/%s, version %d\n", o->info.solver_id, o->info.solver,
           o->info.solver_version);
    printf("config             %s (%s)\n", *o->info.config ? o->info.config : "none",
           origin_name(o));
    const char *name;
    int64_t value;
    for (int i = 0; kiln_op_fact(op, i, &name, &value) == KILN_OK; i++)
        printf("%-18s %lld\n", name, (long long)value);
    printf("workspace          %lld bytes\n", (long long)o->info.workspace_size);
    for (int i = 0; i < o->info.stages; i++)
        print_stage(op, i);
}

void describe_origin(const outcome *o, const kiln *k)
{
    const char *solver = o->info.solver, *config = o->info.config;
    if (!*config)
        return; /* nothing to tune */
    printf("config %s of %s ", config, solver);
    if (o->searched)
        printf("found by this search\n");
    else if (o->info.origin == KILN_ORIGIN_USER_ROW)
        printf("from the user's tuning rows %s\n", kiln_rows_file(k));
    else if (o->info.origin == KILN_ORIGIN_SHIPPED_ROW)
        printf("from the shipped tuning rows in %s\n", kiln_shipped_dir(k));
    else if (o->info.origin == KILN_ORIGIN_CHOICE)
        printf("from --config\n");
    else
        printf("guessed, not measured; -s 1 tunes\n");
}

/* Fills the list with the solvers that accept, by predicted time. Returns their number. */
static int collect(kiln *k, const kiln_problem *p, kiln_verdict *list, int room)
{
    int count = 0;
    kiln_verdict v;
    for (int i = 0; count < room && kiln_explain(k, p, i, &v) == KILN_OK; i++) {
        if (!v.accepted)
            continue;
        int at = count++;
        for (; at > 0 && list[at - 1].predicted_ms > v.predicted_ms; at--)
            list[at] = list[at - 1];
        list[at] = v;
    }
    return count;
}

void describe_solutions(kiln *k, const kiln_problem *p)
{
    kiln_verdict list[32];
    int count = collect(k, p, list, sizeof list / sizeof *list);
    printf("%s solutions available: %d\n",
           (const char *const[]){"Forward Conv", "Backward Data Conv",
                                 "Backward Weights Conv"}[p->direction],
           count);
    for (int i = 0; i < count; i++)
        printf("- id: %d algo: %d, time: %g ms, ws: %lld, name: %s\n", list[i].solver_id,
               list[i].algorithm, list[i].predicted_ms, (long long)list[i].workspace_size,
               list[i].solver);
}
