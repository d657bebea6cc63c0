/* Names the files of a part, and writes down what the part is. */
#include "tune_part.h"

#include "driver/base/rows_part.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ending[] = ".yaml";

static int length_of_base(const char *file)
{
    const size_t length = strlen(file), tail = sizeof ending - 1;
    return (int)(length > tail && strcmp(file + length - tail, ending) == 0 ? length - tail
                                                                            : length);
}

void tune_part_name(const tune_options *o, char file[4096])
{
    char whole[4096];
    const int length = length_of_base(file);
    if (o->shard_count <= 1 || !*file)
        return;
    snprintf(whole, sizeof whole, "%.*s.shard-%lld-of-%lld%s", length < 4000 ? length : 4000, file,
             (long long)o->shard_index + 1, (long long)o->shard_count, ending);
    memcpy(file, whole, sizeof whole);
}

/* Returns how many parts the name of a part's file says that there are; 0: it is another file's. */
static int64_t count_in_name(const char *name, const char *base, size_t length)
{
    long long index, count;
    int end = 0;
    if (strncmp(name, base, length) != 0 ||
        sscanf(name + length, "%9lld-of-%9lld.yaml%n", &index, &count, &end) != 2 || end == 0 ||
        name[length + (size_t)end])
        return 0;
    return count;
}

kiln_status tune_part_check(const tune_options *o, const char *file, char *why)
{
    static const char mark[] = ".shard-";
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file, *at = NULL;
    char folder[4096];
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - file + 1) : 1,
             slash ? file : ".");
    for (const char *next = name; (next = strstr(next, mark)); next++)
        at = next;
    DIR *dir = o->shard_of_slurm && at ? opendir(folder) : NULL;
    kiln_status status = KILN_OK;
    for (struct dirent *e; dir && !status && (e = readdir(dir));) {
        const int64_t count = count_in_name(e->d_name, name, (size_t)(at - name) + sizeof mark - 1);
        if (count == 0 || count == o->shard_count)
            continue;
        snprintf(why, KILN_ERROR_TEXT,
                 "%.80s is one of %d parts, and this Slurm array has %d tasks; say --shard I/%d to "
                 "run a part again, or remove that file",
                 e->d_name, (int)count, (int)o->shard_count, (int)count);
        status = KILN_INVALID;
    }
    if (dir)
        closedir(dir);
    return status;
}

kiln_status tune_part_record(const tune_options *o, const tune_list *list, const char *file,
                             char *why)
{
    rows_part part = {.index = o->shard_index + 1,
                      .count = o->shard_count,
                      .own = (long long)list->count,
                      .all = (long long)list->whole,
                      .problem = calloc(list->count + 1, sizeof *part.problem)};
    if (o->shard_count <= 1) {
        free(part.problem);
        return KILN_OK;
    }
    if (!part.problem) {
        snprintf(why, KILN_ERROR_TEXT, "out of memory for the part's problems");
        return KILN_NO_MEMORY;
    }
    snprintf(part.by, sizeof part.by, "%s", o->shard_by == SHARD_BY_KEY ? "key" : "cost");
    snprintf(part.list, sizeof part.list, "%s", list->digest);
    for (size_t i = 0; i < list->count; i++)
        part.problem[i] = (char *)list->item[i].name;
    const kiln_status status = rows_part_append(file, &part, why);
    free(part.problem); /* the names are the list's */
    return status;
}
