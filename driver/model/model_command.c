/* `kiln model`: reads a model, times its convolutions, prints them. */
#include "model_command.h"

#include "driver/base/replaced_file.h"
#include "driver/conv/interrupt.h"
#include "driver/conv/report.h"

#include "model_options.h"
#include "model_rows.h"
#include "model_table.h"

#include <string.h>
#include <unistd.h>

enum { INTERRUPTED = 130 };

static int fail(const char *file, kiln_status status, const char *why)
{
    fprintf(stderr, "kiln model: %s%s%s\n", file, *file ? ": " : "", why);
    return (int)status;
}

static void show_progress(size_t done, size_t count, const char *name)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%-78.78s\r%zu of %zu: %.50s", "", done + 1, count, name);
}

static void end_progress(void)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%-78s\r", "");
}

/* Returns whether all rows were timed, not ended by a signal. */
static bool time_rows(const model_options *o, const session *s, model_rows *rows)
{
    const bool predict = o->predict || o->defaults.flags.dry_run;
    interrupt watch;
    size_t i = 0;
    interrupt_watch(&watch);
    for (; i < rows->count && !interrupt_came(); i++) {
        if (!predict)
            show_progress(i, rows->count, rows->row[i].layer->name);
        model_row_time(&rows->row[i], s, &o->defaults, predict);
    }
    end_progress();
    const bool whole = i == rows->count;
    rows->count = i;
    interrupt_leave(&watch);
    return whole;
}

static int exit_of(const onnx_model *m, const model_rows *rows)
{
    int worst = 0;
    for (size_t i = 0; i < m->layers; i++)
        worst = worse_exit(worst, m->layer[i].sized ? 0 : KILN_UNSUPPORTED);
    for (size_t i = 0; i < rows->count; i++)
        worst = worse_exit(worst, (int)rows->row[i].status);
    return worst;
}

static int run(const model_options *o, const onnx_model *m)
{
    session s;
    model_rows rows;
    char why[KILN_ERROR_TEXT];
    const flags *f = &o->defaults.flags;
    kiln_status status = f->dry_run ? session_open_dry(&s, why) : session_open(&s, f->device, why);
    if (status)
        return fail("", status, why);
    int exit = KILN_NO_MEMORY;
    if (model_rows_make(&rows, m, &o->defaults)) {
        fail(o->file, KILN_NO_MEMORY, "out of memory for its convolutions");
    } else {
        const bool whole = time_rows(o, &s, &rows);
        model_rows_sum(&rows);
        model_table_print(o, m, &rows, s.name);
        exit = whole ? exit_of(m, &rows) : INTERRUPTED;
        model_rows_free(&rows);
    }
    session_close(&s);
    return exit;
}

/* Writes a model of a known network. */
static int write_demo(const model_options *o)
{
    replaced_file file;
    char why[KILN_ERROR_TEXT];
    int i = 0;
    while (onnx_demo_name(i) && strcmp(onnx_demo_name(i), o->demo) != 0)
        i++;
    if (!onnx_demo_name(i)) {
        snprintf(why, sizeof why, "--demo is '%.60s'; kiln model --help has the names", o->demo);
        return fail("", KILN_INVALID, why);
    }
    kiln_status status = replaced_file_open(&file, o->output, why);
    if (status)
        return fail("", status, why);
    if ((status = onnx_demo_write(i, file.to))) {
        replaced_file_discard(&file);
        return fail("", status, "out of memory for the model");
    }
    return (status = replaced_file_close(&file, why)) ? fail("", status, why) : 0;
}

int model_command(int argc, char **argv)
{
    model_options o;
    onnx_model *m;
    char why[ONNX_WHY];
    kiln_status status = model_options_parse(&o, argc, argv, why);
    if (!status && o.help) {
        model_options_help(stdout);
        return 0;
    }
    if (status)
        return fail("", status, why);
    if (o.demo)
        return write_demo(&o);
    if ((status = onnx_open(&m, o.file, &o.given, why)))
        return fail(o.file, status, why);
    const int exit =
        m->layers ? run(&o, m) : fail(o.file, KILN_INVALID, "the model has no convolution");
    onnx_close(m);
    return exit;
}
