/* The convolutions of a model, equal problems joined. */
#ifndef KILN_MODEL_ROWS_H
#define KILN_MODEL_ROWS_H

#include "driver/base/session.h"
#include "driver/conv/request.h"
#include "driver/onnx/onnx.h"

/* One problem. */
typedef struct model_row {
    const onnx_layer *layer; /* the first that has it */
    kiln_problem problem;    /* with the request's layouts and attributes; `planned`: as planned */
    int64_t times;           /* how often one inference runs it */
    double flops;            /* of one run */
    kiln_status status;      /* of plan and measurement; where it is not KILN_OK, `why` tells */
    char why[KILN_ERROR_TEXT];
    bool planned, measured;
    kiln_op_info info;
    double ms; /* of one run: the median measured, else predicted */
} model_row;

typedef struct model_rows {
    model_row *row;
    size_t count;
    int64_t times;    /* of all rows with a time */
    double flops, ms; /* the same: sums */
} model_rows;

/* Joins the sized layers of a model. Returns KILN_NO_MEMORY. */
kiln_status model_rows_make(model_rows *rows, const onnx_model *m, const request *defaults);
void model_rows_free(model_rows *rows);

/* Plans a row, and measures it unless the times are to be predicted. */
void model_row_time(model_row *row, const session *s, const request *defaults, bool predict);

/* Sums up. */
void model_rows_sum(model_rows *rows);

#endif
