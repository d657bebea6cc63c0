/* Reads files of problems: each problem is a request, and what is none is counted. An ONNX model is
 * such a file: each of its convolutions is a line. */
#ifndef KILN_REQUEST_LIST_H
#define KILN_REQUEST_LIST_H

#include "driver/onnx/onnx.h"
#include "driver/problem_list/problem_list.h"

#include "request.h"

#include <stdio.h>

/* One problem of a file. */
typedef struct request_list_item {
    const char *file;
    long long number; /* of the line */
    const char *line;
    const list_entry *entry;
    kiln_status status; /* of the line; where it is not KILN_OK, `why` tells, and the request is not
                           to be used */
    char why[KILN_ERROR_TEXT];
    request request;
    char *text; /* what the request points into; whoever keeps the request sets this to NULL, and
                   frees the text later */
} request_list_item;

/* What was skipped in all files so far. Start with all zero. */
typedef struct request_list_skipped {
    struct {
        char name[LIST_NAME];
        int count;
    } foreign[16]; /* words that are no convolution; the last takes all further ones */
    int log_lines; /* that name no problem */
    char first_log_line[300];
} request_list_skipped;

/* Calls `visit` for each problem in the file ("-": standard input) from line --start on; the flags
 * of `defaults` are defaults for each line, and --match selects. `visit` returns false to stop.
 * `flag` is how messages call the file. Returns KILN_FILE, after a message, where the file could
 * not be read to its end; *whole tells whether `visit` was called to the end. */
kiln_status request_list_read(const char *flag, const char *name, const request *defaults,
                              bool (*visit)(void *user, request_list_item *item), void *user,
                              request_list_skipped *skipped, bool *whole);

/* Fills what the flags say of the sizes of a model's inputs: --input, --dim, --batchsize. */
void request_list_given(const request *defaults, onnx_given *given);

/* Makes *p the problem of a sized convolution in the layouts that the flags name. On failure `why`
 * has a sentence. */
kiln_status request_list_layer(const request *defaults, const onnx_layer *l, kiln_problem *p,
                               char *why);

/* Writes into why[KILN_ERROR_TEXT] that `visit` got no problem, and the flags that chose none. */
void request_list_none(const request *defaults, char *why);

/* Tells what was left out, on one line each. */
void request_list_print_skipped(const request_list_skipped *skipped, FILE *to);

#endif
