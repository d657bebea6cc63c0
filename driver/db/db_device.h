/* The device at hand, and which rows are its own. */
#ifndef KILN_DB_DEVICE_H
#define KILN_DB_DEVICE_H

#include "db_file.h"

typedef struct db_device {
    char driver[128], core[24];
} db_device;

/* Fills in what the kiln's device is. Prints why, and returns false, where the file has rows of
 * another device. */
bool db_device_of(db_device *d, const kiln *k, const db_file *f);

/* Returns whether the row is of the device's CPU, or of any. */
bool db_device_has(const db_device *d, const kiln_row *row);

#endif
