/* Joins equal problems, plans and measures them. */
#include "model_rows.h"

#include "driver/conv/measure.h"
#include "driver/conv/request_list.h"
#include "driver/conv/tensors.h"
#include "driver/reference/reference.h"

#include <stdlib.h>
#include <string.h>

/* The request that runs one layer. */
static request request_of(const request *defaults, const kiln_problem *p)
{
    request r = *defaults;
    r.source = REQUEST_KEY;
    r.base = *p;
    r.flags.verify = 0; /* the tensors stay on the device */
    return r;
}

/* Makes the problem that is run: in the layouts and with the attributes that the flags ask for. */
static kiln_status make_problem(model_row *row, const request *defaults)
{
    kiln_problem p;
    row->problem = row->layer->problem;
    const kiln_status status = request_list_layer(defaults, row->layer, &p, row->why);
    if (status)
        return status;
    const request r = request_of(defaults, &p);
    return request_problem(&r, KILN_FORWARD, &row->problem, row->why);
}

static model_row *find(model_rows *rows, const kiln_problem *p)
{
    for (size_t i = 0; i < rows->count; i++)
        if (memcmp(&rows->row[i].layer->problem, p, sizeof *p) == 0)
            return &rows->row[i];
    return NULL;
}

kiln_status model_rows_make(model_rows *rows, const onnx_model *m, const request *defaults)
{
    *rows = (model_rows){.row = calloc(m->layers + 1, sizeof *rows->row)};
    if (!rows->row)
        return KILN_NO_MEMORY;
    for (size_t i = 0; i < m->layers; i++) {
        const onnx_layer *l = &m->layer[i];
        if (!l->sized)
            continue;
        model_row *row = find(rows, &l->problem);
        if (!row) {
            row = &rows->row[rows->count++];
            row->layer = l;
            row->status = make_problem(row, defaults);
            row->flops = row->status ? 0 : reference_flops(&row->problem);
        }
        row->times += l->times;
    }
    return KILN_OK;
}

void model_rows_free(model_rows *rows)
{
    free(rows->row);
    *rows = (model_rows){.count = 0};
}

static kiln_status library_error(model_row *row, kiln_status status)
{
    if (status)
        snprintf(row->why, sizeof row->why, "%.*s", KILN_ERROR_TEXT - 1, kiln_last_error());
    return status;
}

/* Launches the operation once, which some drivers still compile in, then measures it. */
static kiln_status run(model_row *row, kiln_op *op, const session *s, const request *r, tensors *t)
{
    timing time = {.runs = 0};
    kiln_status status = tensors_workspace(t, s, row->info.workspace_size, row->why);
    if (!status)
        status = library_error(row, kiln_op_enqueue(op, s->queue, &t->buffers, 0, NULL, NULL));
    if (!status && clFinish(s->queue) != CL_SUCCESS) {
        snprintf(row->why, sizeof row->why, "the launch failed");
        status = KILN_OPENCL;
    }
    if (!status)
        status = measure_op(op, s, &t->buffers, &r->flags, &time, row->why);
    row->measured = !status;
    row->ms = status ? row->ms : time.median;
    return status;
}

static kiln_status measure(model_row *row, const session *s, const request *r,
                           const kiln_choice *choice)
{
    kiln_op *op = NULL;
    tensors t = {.on_host = false};
    kiln_status status = library_error(row, kiln_conv_create(s->kiln, &row->problem, choice, &op));
    if (!status)
        status = tensors_make(&t, s, r, &row->problem, row->why);
    if (!status) {
        kiln_op_describe(op, &row->info);
        status = run(row, op, s, r, &t);
        tensors_free(&t);
    }
    kiln_op_release(op);
    return status;
}

void model_row_time(model_row *row, const session *s, const request *defaults, bool predict)
{
    const request r = request_of(defaults, &row->problem);
    const kiln_choice choice = {.solver = request_solver(&r),
                                .config = *r.flags.config ? r.flags.config : NULL,
                                .native_layout = r.flags.native_layout != 0};
    if (row->status)
        return;
    row->status = library_error(row, kiln_conv_plan(s->kiln, &row->problem, &choice, &row->info));
    if (row->status)
        return;
    row->planned = true;
    row->problem = row->info.problem;
    row->ms = row->info.predicted_ms;
    if (!predict)
        row->status = measure(row, s, &r, &choice);
}

void model_rows_sum(model_rows *rows)
{
    rows->times = 0;
    rows->flops = rows->ms = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const model_row *row = &rows->row[i];
        if (row->status)
            continue;
        rows->times += row->times;
        rows->flops += row->flops * (double)row->times;
        rows->ms += row->ms * (double)row->times;
    }
}
