/* Reports on one problem in one direction: in MIOpen's lines, as a JSON object or as a CSV line. */
#ifndef KILN_REPORT_H
#define KILN_REPORT_H

#include "driver/base/session.h"
#include "driver/reference/verify.h"

#include "request.h"

typedef enum report_format { REPORT_LINES = 0, REPORT_JSON, REPORT_CSV } report_format;

enum { REPORT_SCHEMA = 1, OUTCOME_ERROR_TEXT = 4096 };

/* In ms. */
typedef struct timing {
    int64_t runs;                     /* 0: nothing was timed */
    double average, median, min, p95; /* by the device's clock */
    double wall;                      /* average by the host's */
    double pack;   /* packing of weights; in none of the times above, but in wall for images */
    double create; /* choosing, generating, compiling */
} timing;

typedef struct outcome {
    kiln_status status;
    char error[OUTCOME_ERROR_TEXT]; /* a sentence, where status is not KILN_OK */
    bool has_problem;               /* false: the request was refused before it had one */
    kiln_problem problem;
    bool planned; /* info is filled */
    kiln_op_info info;
    bool searched; /* the config was found by this run's search, which measured: */
    double found_ms;
    const char *device;
    timing time;
    bool verified, has_bias;
    verify_result result, bias;
    int64_t dirty; /* cells of the destination's padding that are not zero: a wrong result too */
    char repro[REQUEST_REPRO_TEXT];
} outcome;

/* Records a failure. Returns the status. */
kiln_status outcome_fail(outcome *o, kiln_status status, const char *text);
/* Returns the exit status: 1 if the result was wrong, else the kiln_status. */
int outcome_exit(const outcome *o);
/* Returns the worse of two exit statuses: 1, a wrong result, is the worst. */
int worse_exit(int a, int b);

report_format report_format_of(const flags *f);

/* Print lines for people: the times, the verdict, and on standard error what went wrong. */
void report_timing(const outcome *o, bool wall);
void report_verdict(const outcome *o);
void report_error(const outcome *o);

/* Prints one JSON object or one CSV line; a header comes before the first CSV line of a process. */
void report_json_csv(report_format format, const outcome *o);

/* Returns how to judge the result of tensors that are filled as the request says. */
verify_options verify_options_for(const request *r, const kiln_op_info *info, bool from_files);

/* Returns the bytes of the tensor that the problem writes, or of the two that it reads. */
double problem_bytes(const kiln_problem *p, bool written);

/* Return where a config comes from: "user row", "guess", ...; for an outcome also "search". */
const char *origin_word(kiln_origin origin);
const char *origin_name(const outcome *o);

#endif
