/* The command line of the conv words: values, defaults, parsing, help and repro lines.
 *
 * One table (flag_table.c) feeds getopt_long(), --help, the hint at a misspelt flag and the line
 * that repeats a run. A new flag is a field here and a row there.
 */
#ifndef KILN_FLAGS_H
#define KILN_FLAGS_H

#include "kiln_problem.h"

#include <stdbool.h>
#include <stdio.h>

enum { FLAGS_MAX = 96, FLAGS_TEXTS = 16 };

/* The values of a flag that may be given several times. */
typedef struct flag_texts {
    const char *text[FLAGS_TEXTS];
    int count;
} flag_texts;

/* Indices of the choices, in the table's order. */
enum { MODE_CONV = 0, MODE_TRANS };
enum { PAD_DEFAULT = 0, PAD_SAME, PAD_VALID };
enum { ROUNDING_F32 = 0, ROUNDING_TWICE, ROUNDING_ONCE };

/* Spatial arrays are always D, H, W. Texts point into the parsed arguments. */
typedef struct flags {
    /* the problem */
    int64_t forw, spatial_dim, batch, in_channels, out_channels, groups, mode, pad_mode;
    int64_t size[3], filter[3], stride[3], dilation[3], output_pad[3];
    int64_t pad[3], pad_end[3]; /* pad_end -1: equal to pad */
    const char *in_layout, *fil_layout, *out_layout, *out_type;
    const char *x_type, *w_type; /* forward: of x and w, where they are not the word's */
    const char *problem;         /* --problem: replaces everything above but forw */
    /* epilogue and attributes */
    int64_t bias, math, deterministic; /* deterministic -1: not given */
    const char *bias_layout, *bias_type;
    const char *activation;
    double act_alpha, act_beta, alpha, beta;
    double x_scale, w_scale, y_scale;
    int64_t x_zero, w_zero, y_zero, rounding;
    const char *w_scales; /* "uniform", or a file */
    int64_t workspace_limit;
    /* what to run */
    const char *solution, *config;
    int64_t search, iter, limit_ms, max_batch; /* a limit of 0 is none */
    int64_t native_layout;
    /* data and verification */
    int64_t verify, verify_ms, fill, seed, dump_output;
    const char *in_data, *weights, *dout_data, *in_bias, *verification_cache;
    /* reporting */
    int64_t time, wall, printconv, json, csv, dry_run;
    const char *trace;
    /* device */
    const char *device;
    int64_t list_devices;
    /* batch */
    const char *batch_file, *match;
    int64_t start;
    flag_texts input, dim; /* sizes of a model's inputs */
    /* MIOpenDriver's flags that kiln takes with few values */
    int64_t pad_val, tensor_vect, vector_length, gpualloc, gpubuffer_check;
    const char *in_cast, *out_cast, *wei_cast;
    int64_t help;

    bool given[FLAGS_MAX]; /* named on the command line, by row of the table */
} flags;

void flags_init(flags *f);

/* Reads the flags after argv[0], which is the word. Flags that argv does not name keep their value
 * in *f. Returns KILN_OK, or KILN_INVALID with a sentence of at most KILN_ERROR_TEXT bytes in
 * `why`. */
kiln_status flags_parse(flags *f, int argc, char **argv, char *why);

/* Returns how many words the flag that begins with `word` takes, 1 or 2; a word that is no flag
 * takes 1. */
int flags_width(const char *word);

/* Whether the command line named the flag. */
bool flags_given(const flags *f, const char *name);
/* The first flag that was given and describes the problem's shape; NULL if none was. */
const char *flags_given_shape(const flags *f);

/* What of the problem a line's flags say. */
typedef enum flags_saying {
    FLAGS_SAY_PROBLEM,  /* all of it */
    FLAGS_SAY_EPILOGUE, /* what was given of epilogue and arithmetic, beside a problem's name */
    FLAGS_SAY_RUN       /* nothing: a name says it */
} flags_saying;

/* Writes the flags that repeat the run, quoted for a shell: " -n 16 --config=1,2". Leaves out flags
 * at their defaults, unless they may override a name. Writes at most `size` bytes; returns the
 * length that was needed. */
size_t flags_repro(const flags *f, flags_saying saying, char *text, size_t size);

/* Prints the table by groups, for --help. */
void flags_help(FILE *to);
/* Prints the words of `text` in columns `left` to 99; the cursor is at `column`. */
void flags_print_wrapped(FILE *to, int left, int column, const char *text);

#endif
