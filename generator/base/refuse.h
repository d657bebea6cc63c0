/* Sentences that say no: how every refusal gets its reason. */
#ifndef KILN_REFUSE_H
#define KILN_REFUSE_H

#include "kiln_problem.h"

#include <stdbool.h>

/* Writes the sentence to `why` (KILN_ERROR_TEXT bytes, or NULL) and returns KILN_INVALID. */
kiln_status kiln_refuse(char *why, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes the sentence likewise and returns false. */
bool kiln_deny(char *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A sentence that says no. */
typedef struct kiln_why {
    char text[KILN_ERROR_TEXT];
    bool limit; /* nothing but a limit on workspaces is in the way */
} kiln_why;

/* Returns true, so that `return kiln_no(why, "...");` refuses, and writes the reason unless `why`
 * is NULL. */
bool kiln_no(kiln_why *why, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same where nothing but a limit on workspaces is in the way. */
bool kiln_no_room(kiln_why *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
