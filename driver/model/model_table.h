/* Prints the rows of a model: as a table for people, as JSON, as CSV. */
#ifndef KILN_MODEL_TABLE_H
#define KILN_MODEL_TABLE_H

#include "model_options.h"
#include "model_rows.h"

/* Prints all rows, then the convolutions without a size, then what was summed up. */
void model_table_print(const model_options *o, const onnx_model *m, const model_rows *rows,
                       const char *device);

#endif
