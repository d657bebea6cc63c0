/* Lists of problems, one per line: the files that `kiln conv --batch FILE` reads.
 *
 *     mb64ic3ih224oc64oh112kh7sh2ph3n"conv1"           benchdnn's convolution descriptors
 *     # name N C H W K R S pad_h pad_w stride_h ...    columns, named by a header line
 *     conv1*3 64 3 224 224 64 7 7 3 3 2 ...            "*3": the layer occurs three times
 *     # ASYM-PAD (top,bottom,left,right)=1,0,1,0 : conv2 64 3 ...      unequal padding
 *     fwd-f32-n16-c192-k64-i28x28-f1x1                 kiln's text, or a MIOpen key
 *     MIOpenDriver conv -n 16 ...                      command lines, left to the flag parser
 *     --conv --dir=FWD_B --dt=f16 mb64ic3ih224 ...     benchdnn's command lines
 *     onednn_verbose,exec,cpu,convolution,...          oneDNN's log
 *
 * A command may stand anywhere in a line of a log, and a shell's redirections may follow it. Blank
 * lines and all other lines that start with # are skipped.
 */
#ifndef KILN_PROBLEM_LIST_H
#define KILN_PROBLEM_LIST_H

#include "kiln_problem.h"

#include <stdbool.h>

enum { LIST_NAME = 64, LIST_COLUMNS = 24, LIST_FLAGS = 256, LIST_QUOTE = 48, LIST_UNFOLLOWED = 16 };

typedef enum list_kind {
    LIST_NOTHING = 0,
    LIST_SHAPE,   /* sizes only: the caller sets directions, types and everything else */
    LIST_PROBLEM, /* a whole problem */
    LIST_COMMAND, /* has a command: conv, convfp16, ..., kiln conv or -, or names MIOpenDriver */
    LIST_FOREIGN, /* a driver's or oneDNN's word that is no convolution: entry.name */
    LIST_LOG,     /* other text of a log */
    LIST_BAD      /* entry.why says what is wrong */
} list_kind;

/* What options of oneDNN's log and of benchdnn ask for; all zero: nothing. */
typedef struct list_options {
    int directions;  /* a mask as of -F; 0: not said */
    char type[4][8]; /* src, wei, dst, bia: oneDNN's names; "": not said */
    char tag[3][24]; /* layouts of src, wei, dst: oneDNN's names */
    bool transposed; /* a deconvolution */
    bool bias, exact, reduced, deterministic;
    bool biases_differ; /* between the directions */
    /* Post-ops: the activation as flags, the factor of the convolution (0: 1), whether a residual
     * is added, its factor and its type ("": the result's). */
    char activation[96];
    double factor, sum;
    bool sums;
    char sum_type[8];
    char scales[96], zeros[96];                   /* attributes as flags */
    int64_t batch;                                /* 0: the descriptor's */
    unsigned several;                             /* options with several values, a bit each */
    char unfollowed[LIST_UNFOLLOWED][LIST_QUOTE]; /* options; "": none */
    unsigned decisive; /* which of these make another problem of it, a bit each */
    bool crowded;      /* there was no room for one */
} list_options;

/* What earlier lines of a file say about later ones. Start each file with one that is all zero. */
typedef struct list_reader {
    int columns; /* 0: no header yet, so that a row has 15 columns, or 20 with a depth */
    int column[LIST_COLUMNS];
    bool broken;          /* the latest header could not be read */
    list_options options; /* of benchdnn, from lines of their own */
    bool log; /* a line of MIOpen's or oneDNN's logging without a command has been read */
} list_reader;

typedef struct list_entry {
    /* LIST_SHAPE: passes kiln_problem_check(); types and layouts are still at their defaults, for
     * the caller to set. LIST_PROBLEM: checked. */
    kiln_problem problem;
    char name[LIST_NAME]; /* "" where the line has none; cut to fit; printable */
    int repeat;           /* how often the layer occurs, at least 1 */
    /* LIST_COMMAND: the command is line[begin] to line[end - 1]. Unless rest is 0, another command
     * follows after line[rest], to be read as a line of its own. */
    size_t begin, end, rest;
    char flags[LIST_FLAGS]; /* LIST_SHAPE: what the line says beside the sizes, as "conv -F 1" */
    /* LIST_SHAPE: options of the line that kiln does not follow, and that leave the problem as it
     * is. */
    char note[KILN_ERROR_TEXT];
    bool unsupported; /* LIST_BAD: the line is right, but kiln lacks what it asks for */
    char why[KILN_ERROR_TEXT];
} list_entry;

/* Reads one line, with or without its end. */
list_kind list_read(list_reader *reader, const char *line, list_entry *entry);

#endif
