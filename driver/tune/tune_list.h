/* The problems of a run of `kiln tune`. */
#ifndef KILN_TUNE_LIST_H
#define KILN_TUNE_LIST_H

#include "driver/conv/request_list.h"

#include "tune_options.h"

/* One problem in one direction. */
typedef struct tune_item {
    request request; /* whose line may ask for other directions, too */
    kiln_direction direction;
    kiln_problem problem; /* checked; layouts may be "any" */
    char name[KILN_KEY_TEXT];
    int64_t count; /* how often it occurs in the files */
    double cost;   /* expected ms of a run, of a device of no particular kind; 0: unknown */
} tune_item;

typedef struct tune_list {
    tune_item *item;
    size_t count, room;
    char **text; /* lines that requests point into */
    size_t texts, texts_room;
    request_list_skipped skipped;
    int refused;     /* lines */
    int unwanted;    /* problems of other shards */
    size_t whole;    /* problems of all shards */
    char digest[20]; /* stands for their names, in whatever order */
    int worst;       /* exit status of what went wrong while reading */
    bool no_memory;
} tune_list;

/* Reads the files; messages about lines that cannot be tuned go to standard error. A problem that
 * occurs several times is there once. Returns the status, with a sentence in `why`, where nothing
 * can be tuned. */
kiln_status tune_list_read(tune_list *list, const tune_options *o, const request *defaults,
                           const char *const *files, int nfiles, char *why);
void tune_list_free(tune_list *list);

/* Leaves the problems of the shard, in their order. The same list and options give the same parts
 * everywhere. */
void tune_list_shard(tune_list *list, const tune_options *o);

/* Puts the problems that take the program most time first. */
void tune_list_by_weight(tune_list *list);

#endif
