/* A process that describes devices, so that the process that starts the others never opens one. */
#include "tune_worker.h"

#include <stdio.h>
#include <stdlib.h>

static void describe(const session *s, const char *spec, tune_device *d)
{
    kiln_trial_line line;
    kiln_trial_line_fill(&line, s->kiln, NULL, NULL);
    *d = (tune_device){.cpu = s->cpu};
    snprintf(d->spec, sizeof d->spec, "%s", spec);
    snprintf(d->name, sizeof d->name, "%s", s->name);
    snprintf(d->device, sizeof d->device, "%s", line.device);
    snprintf(d->driver, sizeof d->driver, "%s", line.driver);
    snprintf(d->core, sizeof d->core, "%s", line.core);
    snprintf(d->rows_file, sizeof d->rows_file, "%s", kiln_rows_file(s->kiln));
}

int tune_reopen_run(int fd, void *user)
{
    const tune_job *job = user;
    tune_message *m = calloc(1, sizeof *m);
    session s;
    if (!m)
        return KILN_NO_MEMORY;
    session_quiet();
    m->status = session_open(&s, job->device->spec, m->why);
    m->kind = m->status ? MESSAGE_FAIL : MESSAGE_READY;
    tune_send(fd, m);
    free(m);
    return 0;
}

int tune_probe_run(int fd, void *user)
{
    const tune_job *job = user;
    char spec[DEVICE_MOST][DEVICE_SPEC];
    int count;
    session s;
    tune_message *m = calloc(1, sizeof *m);
    if (!m)
        return KILN_NO_MEMORY;
    session_quiet();
    m->status = device_find(job->options->device, spec, &count, m->why);
    for (int i = 0; i < count && !m->status; i++) {
        if ((m->status = session_open(&s, spec[i], m->why)))
            break;
        m->kind = MESSAGE_DEVICE;
        describe(&s, spec[i], &m->device);
        session_close(&s);
        tune_send(fd, m);
    }
    m->kind = m->status ? MESSAGE_FAIL : MESSAGE_READY;
    tune_send(fd, m);
    free(m);
    return 0;
}
