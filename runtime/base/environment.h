/* Values that settings and environment variables may have. */
#ifndef KILN_ENVIRONMENT_H
#define KILN_ENVIRONMENT_H

#include "kiln.h"

#include <stdbool.h>

/* The parts of a bundle, which kiln_bundle() writes and settings.bundle names. */
#define KILN_BUNDLE_PROGRAMS "programs"
#define KILN_BUNDLE_ROWS "rows.yaml"
#define KILN_BUNDLE_SHIPPED "shipped"

/* Checks all settings, and the environment variables of settings that are not given. Returns
 * KILN_INVALID, naming variable or setting, value and remedy, when a value makes no sense. */
kiln_status kiln_environment_check(const kiln_settings *settings);

/* Returns whether a switch that passed the check is on; `standard` where it is NULL or "". */
bool kiln_switch_is_on(const char *text, bool standard);

/* Returns the cache's limit in bytes: by the setting, else by the environment, else the usual
 * one. */
int64_t kiln_environment_cache_limit(const kiln_settings *settings);
/* Returns how long threads stay awake, in microseconds, in the same order. */
int64_t kiln_environment_keepalive_us(const kiln_settings *settings);

#endif
