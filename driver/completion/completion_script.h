/* The scripts of the shells: driver/completion/shells/, embedded. */
#ifndef KILN_COMPLETION_SCRIPT_H
#define KILN_COMPLETION_SCRIPT_H

typedef struct completion_script {
    const char *name; /* "kiln.bash" */
    const char *path;
    const char *text;
} completion_script;

extern const completion_script completion_scripts[]; /* ends with a name that is NULL */

#endif
