/* Values that settings and environment variables may have. */
#ifndef KILN_ENVIRONMENT_H
#define KILN_ENVIRONMENT_H

#include "kiln.h"

#include <stdbool.h>

/* KILN_INVALID, naming variable or setting, value and remedy, when one that counts makes no sense:
 * a variable does not where the setting is given. */
kiln_status kiln_environment_check(const kiln_settings *settings);

/* Whether a switch that passed the check is on; `standard` where it is NULL or "". */
bool kiln_switch_is_on(const char *text, bool standard);

/* The cache's limit by the setting, else by the environment, else the usual one. */
int64_t kiln_environment_cache_limit(const kiln_settings *settings);
/* How long threads stay awake, in microseconds: likewise. */
int64_t kiln_environment_keepalive_us(const kiln_settings *settings);

#endif
