/* The files of a project that are the same for every problem: driver/emit/project/, embedded. */
#ifndef KILN_PROJECT_FILES_H
#define KILN_PROJECT_FILES_H

typedef struct project_file {
    const char *name; /* "conv.c.in" */
    const char *path;
    const char *text;
} project_file;

extern const project_file project_files[]; /* ends with a name that is NULL */

#endif
