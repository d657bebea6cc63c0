/* The OpenCL templates embedded at build, and the directory that may override them.
 *
 * A template says what it needs in lines '#include "NAME.cl"', from the first column on. They are
 * resolved here, as text, because OpenCL's compilers read no files of ours: so an #if around one
 * has no effect on whether it is there, and a file is in a program once, where the first line that
 * names it stands.
 */
#ifndef KILN_TEMPLATE_H
#define KILN_TEMPLATE_H

#include "generator/plan/plan.h"
#include "runtime/base/error.h"

typedef struct kiln_template {
    const char *file; /* "direct.cl": unique, whatever folder it is in */
    const char *path; /* below templates/: "direct/direct.cl" */
    const char *text;
} kiln_template;

/* Made by the build from templates/; ends with {NULL, NULL}. */
extern const kiln_template kiln_embedded_templates[];

/* Puts the source of a program together: template `file` with everything that it includes, and
 * #line directives, of which the first names it. Takes each file from `dir` (which may be NULL)
 * if `dir` has it, in the folder that the file has below templates/ or in none; else the
 * embedded file. free() *source; it is NULL, with the error set, when a file is missing or
 * includes itself. */
kiln_status kiln_template_source(const char *dir, const char *file, char **source);

enum { KILN_TEMPLATE_HASH = 40 };

/* Writes the XXH3 hash, 16 hexadecimal digits, of all templates that a plan uses, and of all that
 * these include. `dir` as above. */
void kiln_plan_template_hash(const char *dir, const kiln_plan *plan, char hash[KILN_TEMPLATE_HASH]);

#endif
