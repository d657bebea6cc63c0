/* Which problems a report shows. */
#ifndef KILN_REPORT_FILTER_H
#define KILN_REPORT_FILTER_H

#include "driver/onnx/onnx.h"

typedef struct report_filter {
    const char *match; /* "", or a part of their names */
    /* Keys of the rows of models' convolutions; models 0: all problems. */
    char (*key)[KILN_KEY_TEXT];
    size_t keys, room;
    int models;
} report_filter;

/* Adds the convolutions of a model. Returns as onnx_open(), with a sentence in
 * why[KILN_ERROR_TEXT].
 */
kiln_status report_filter_model(report_filter *f, const char *name, const onnx_given *given,
                                char *why);
void report_filter_free(report_filter *f);

/* Whether the problem, or row, of that name is shown. */
bool report_filter_takes(const report_filter *f, const char *problem);

#endif
