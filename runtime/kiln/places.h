/* Which files and folders a kiln uses. */
#ifndef KILN_PLACES_H
#define KILN_PLACES_H

#include "kiln_internal.h"

/* Writes the setting, else the environment variable, else "". "off" becomes "". */
void kiln_place_resolve(char *out, size_t size, const char *setting, const char *variable);

/* Returns what named the place: the setting or the variable; NULL where it is the default. */
const char *kiln_place_namer(const char *value, const char *setting, const char *variable);

/* Sets the places of programs, rows and templates. k->facts names the device. */
void kiln_places_set(kiln *k, const kiln_settings *s);

#endif
