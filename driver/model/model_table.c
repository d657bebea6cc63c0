/* Prints the rows of a model. */
#include "model_table.h"

#include "driver/base/json_csv.h"
#include "driver/conv/report.h"

#include <string.h>

enum { NAME = 32, SOLVER = 20 };

/* Prints a name in its column; the end of one that is too long. */
static void print_name(const char *name)
{
    const int n = (int)strlen(name);
    if (n <= NAME)
        printf("%-*s  ", NAME, name);
    else
        printf("...%s  ", name + n - (NAME - 3));
}

static double share_of(const model_rows *rows, const model_row *row)
{
    return rows->ms > 0 ? row->ms * (double)row->times / rows->ms : 0;
}

static double gflops(double flops, double ms)
{
    return ms > 0 ? flops / ms / 1e6 : 0;
}

static void print_row(const model_rows *rows, const model_row *row)
{
    char key[KILN_KEY_TEXT];
    const onnx_layer *l = row->layer;
    kiln_problem_text(&row->problem, key, sizeof key);
    print_name(l->name);
    printf("%5lld  %9.2f  ", (long long)row->times, row->flops / 1e6);
    if (row->status)
        printf("%-*s", SOLVER + 30, "no solver");
    else
        printf("%-*s  %10.4g  %5.1f%%  %8.4g", SOLVER, row->info.solver, row->ms,
               100 * share_of(rows, row), gflops(row->flops, row->ms));
    printf("  %s%s%s%s\n", key, *l->epilogue ? " (" : "", l->epilogue, *l->epilogue ? ")" : "");
    if (*l->note)
        printf("  note: %s\n", l->note);
    if (row->status)
        printf("  %s\n", row->why);
}

static size_t count_sized(const onnx_model *m)
{
    size_t count = 0;
    for (size_t i = 0; i < m->layers; i++)
        count += m->layer[i].sized;
    return count;
}

static void print_lines(const model_options *o, const onnx_model *m, const model_rows *rows,
                        const char *device)
{
    const bool predicted = o->predict || o->defaults.flags.dry_run;
    const size_t sized = count_sized(m);
    printf("model   %s, opset %lld%s%s\n", o->file, (long long)m->opset,
           *m->producer ? ", by " : "", m->producer);
    printf("device  %s\n", device);
    printf("%-*s  %5s  %9s  %-*s  %10s  %6s  %8s  problem\n", NAME, "layer", "times", "MFLOP",
           SOLVER, "solver", predicted ? "predicted" : "ms", "share", "GFLOP/s");
    for (size_t i = 0; i < rows->count; i++)
        print_row(rows, &rows->row[i]);
    for (size_t i = 0; i < m->layers; i++)
        if (!m->layer[i].sized)
            printf("%s %s has no size: %s\n", m->layer[i].op, m->layer[i].name, m->layer[i].why);
    printf(
        "total   %zu convolution%s, %zu with a size, %zu different; %lld run%s, %.5g MFLOP, %.4g "
        "ms%s, %.4g GFLOP/s\n",
        m->layers, m->layers == 1 ? "" : "s", sized, rows->count, (long long)rows->times,
        rows->times == 1 ? "" : "s", rows->flops / 1e6, rows->ms, predicted ? " predicted" : "",
        gflops(rows->flops, rows->ms));
}

static void print_fields(report_format format, const json_csv *j)
{
    if (format == REPORT_JSON)
        json_csv_print_json(j);
    else
        json_csv_print_csv(j);
}

/* Adds what all lines have. */
static json_csv begin(const model_options *o, const char *device, const char *layer, const char *op)
{
    json_csv j = {.count = 0};
    json_csv_count(&j, "schema", true, REPORT_SCHEMA);
    json_csv_words(&j, "model", true, o->file);
    json_csv_words(&j, "device", true, device);
    json_csv_words(&j, "layer", true, layer);
    json_csv_words(&j, "operator", *op != '\0', op);
    return j;
}

/* Adds the numbers. */
static void add_numbers(json_csv *j, int64_t times, double flops, bool timed, double ms,
                        bool measured, double share)
{
    json_csv_count(j, "times", times > 0, times);
    json_csv_real(j, "mflop", flops > 0, flops / 1e6);
    json_csv_real(j, "predicted_ms", timed && !measured, ms);
    json_csv_real(j, "median_ms", timed && measured, ms);
    json_csv_real(j, "share", timed, share);
    json_csv_real(j, "gflops", timed && ms > 0, gflops(flops, ms));
}

static void add_words(json_csv *j, const model_row *row, const char *key, const char *why,
                      const onnx_layer *l)
{
    const bool planned = row && row->planned;
    json_csv_words(j, "problem", key != NULL, key);
    json_csv_words(j, "solver", planned, planned ? row->info.solver : "");
    json_csv_words(j, "config", planned, planned ? row->info.config : "");
    json_csv_words(j, "origin", planned, planned ? origin_word(row->info.origin) : "");
    json_csv_words(j, "epilogue", l && *l->epilogue, l ? l->epilogue : "");
    json_csv_words(j, "note", l && *l->note, l ? l->note : "");
    json_csv_words(j, "error", why && *why, why);
}

static void print_programs(const model_options *o, const onnx_model *m, const model_rows *rows,
                           const char *device)
{
    const report_format format = report_format_of(&o->defaults.flags);
    const bool measured = !o->predict && !o->defaults.flags.dry_run;
    char key[KILN_KEY_TEXT];
    for (size_t i = 0; i < rows->count; i++) {
        const model_row *row = &rows->row[i];
        json_csv j = begin(o, device, row->layer->name, row->layer->op);
        kiln_problem_text(&row->problem, key, sizeof key);
        add_numbers(&j, row->times, row->flops, !row->status, row->ms, row->measured,
                    share_of(rows, row));
        add_words(&j, row, key, row->status ? row->why : NULL, row->layer);
        print_fields(format, &j);
    }
    for (size_t i = 0; i < m->layers; i++) {
        if (m->layer[i].sized)
            continue;
        json_csv j = begin(o, device, m->layer[i].name, m->layer[i].op);
        add_numbers(&j, m->layer[i].times, 0, false, 0, false, 0);
        add_words(&j, NULL, NULL, m->layer[i].why, &m->layer[i]);
        print_fields(format, &j);
    }
    json_csv j = begin(o, device, "total", "");
    add_numbers(&j, rows->times, rows->flops, rows->times > 0, rows->ms, measured, 1);
    add_words(&j, NULL, NULL, NULL, NULL);
    print_fields(format, &j);
}

void model_table_print(const model_options *o, const onnx_model *m, const model_rows *rows,
                       const char *device)
{
    if (report_format_of(&o->defaults.flags) == REPORT_LINES)
        print_lines(o, m, rows, device);
    else
        print_programs(o, m, rows, device);
}
