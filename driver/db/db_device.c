/* Compares files and rows with the device that was opened. */
#include "db_device.h"

#include <stdio.h>
#include <string.h>

bool db_device_of(db_device *d, const kiln *k, const db_file *f)
{
    kiln_trial_line line;
    kiln_trial_line_fill(&line, k, NULL, NULL);
    memcpy(d->driver, line.driver, sizeof d->driver);
    memcpy(d->core, line.core, sizeof d->core);
    if (!*f->device || !strcmp(f->device, "any") || !strcmp(f->device, line.device))
        return true;
    fprintf(stderr,
            "kiln db: %s has rows of \"%s\", but the device is \"%s\"; KILN_DEVICE picks one\n",
            f->name, f->device, line.device);
    return false;
}

bool db_device_has(const db_device *d, const kiln_row *row)
{
    return !*row->core || !*d->core || strcmp(row->core, d->core) == 0;
}
