/* What a model that a test wrote reads as. */
#ifndef KILN_TEST_ONNX_CASES_H
#define KILN_TEST_ONNX_CASES_H

#include "driver/onnx/onnx.h"

#include "onnx_writer.h"

/* Ends the model and opens it; *why is "" or the sentence. Frees the writer. */
onnx_model *onnx_read_written(onnx_writer *w, const onnx_given *given, kiln_status *status,
                              char why[ONNX_WHY]);

/* Expects a model whose layers are these problems, with blanks between; "!" stands for a layer
 * without a size. Frees the writer. */
void onnx_expect(onnx_writer *w, const char *problems);

/* Expects a refusal whose sentence has the text. Frees the writer. */
void onnx_expect_refusal(onnx_writer *w, kiln_status status, const char *text);

#endif
