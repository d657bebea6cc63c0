/* What is told about one problem in one direction: MIOpen's lines, a JSON object or a CSV line. */
#ifndef KILN_REPORT_H
#define KILN_REPORT_H

#include "driver/reference/verify.h"
#include "driver/session.h"

#include "request.h"

typedef enum report_format { REPORT_LINES = 0, REPORT_JSON, REPORT_CSV } report_format;

enum { REPORT_SCHEMA = 1, OUTCOME_ERROR_TEXT = 4096 };

/* In ms. */
typedef struct timing {
    int64_t runs;                     /* 0: nothing was timed */
    double average, median, min, p95; /* by the device's clock */
    double wall;                      /* average by the host's */
    double pack;   /* packing of weights, in none of the above; of images: in wall */
    double create; /* choosing, generating, compiling */
} timing;

typedef struct outcome {
    kiln_status status;
    char error[OUTCOME_ERROR_TEXT]; /* with a status other than KILN_OK */
    bool has_problem;               /* false when the request was refused before */
    kiln_problem problem;
    bool planned; /* info is filled */
    kiln_op_info info;
    bool searched; /* the config was found by this run's search */
    const char *device;
    timing time;
    bool verified, has_bias;
    verify_result result, bias;
    int64_t dirty; /* cells of the destination's padding that are not zero, which is wrong too */
    char repro[REQUEST_REPRO_TEXT];
} outcome;

/* Records the failure. */
kiln_status outcome_fail(outcome *o, kiln_status status, const char *text);
/* Exit status: 1 if the result was wrong, else the kiln_status. */
int outcome_exit(const outcome *o);
/* The worse of two exit statuses: a wrong result is worse than none. */
int worse_exit(int a, int b);

report_format report_format_of(const flags *f);

/* Human lines: what was timed, what was verified, what went wrong (on standard error). */
void report_timing(const outcome *o, bool wall);
void report_verdict(const outcome *o);
void report_error(const outcome *o);

/* One JSON object, or one CSV line (the first of a process comes after a header). */
void report_json_csv(report_format format, const outcome *o);

/* How to judge the result: by what the request filled the tensors with. */
verify_options verify_options_for(const request *r, const kiln_op_info *info, bool from_files);

/* Bytes of the tensor that the problem writes, or of the two that it reads. */
double problem_bytes(const kiln_problem *p, bool written);

/* "Forward Conv.", "Backward Data Conv.", ... */
const char *direction_title(kiln_direction direction);
/* Where a config came from: "user row", "guess", ...; of an outcome also "search". */
const char *origin_word(kiln_origin origin);
const char *origin_name(const outcome *o);

#endif
