/* The OpenCL templates embedded at build, and the directory that may override them. */
#ifndef KILN_TEMPLATE_H
#define KILN_TEMPLATE_H

typedef struct kiln_template {
    const char *file, *text;
} kiln_template;

/* Made by the build from templates/; ends with {NULL, NULL}. */
extern const kiln_template kiln_embedded_templates[];

/* common.cl followed by `file`, each preceded by a #line directive. From `dir` where it has the
 * file (dir may be NULL), else embedded. malloc()ed; NULL when there is no such template. */
char *kiln_template_source(const char *dir, const char *file);

#endif
