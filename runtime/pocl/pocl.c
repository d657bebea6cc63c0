/* A kiln's part: opens what the settings ask for, as far as the device can do it. */
#include "pocl.h"

#include "buffer_pointers.h"
#include "flush_check.h"
#include "pocl_internal.h"
#include "work_sharing.h"

#include <stdlib.h>

/* Whether threads that stay awake share launches. */
static bool can_share(const kiln_pocl *p, cl_context context, cl_device_id device,
                      kiln_programs *programs, const kiln_logger *logger)
{
    if (!p->keepalive)
        return false;
    if (kiln_sharing_works(programs, context, device))
        return true;
    kiln_log(logger, "no thread helps with a launch of one work-group: %s", kiln_last_error());
    return false;
}

static void open_promises(kiln_pocl *p, cl_context context, cl_device_id device,
                          const kiln_device_facts *facts, kiln_programs *programs, bool batch)
{
    if (!p->pointers)
        p->pointers = kiln_buffer_pointers_open(programs, context, device);
    if (batch && !p->batch && facts->shares_work && p->pointers)
        p->batch = kiln_command_batch_open();
}

kiln_pocl *kiln_pocl_open(cl_context context, cl_device_id device, kiln_device_facts *facts,
                          kiln_programs *programs, const kiln_pocl_settings *settings,
                          const kiln_logger *logger)
{
    kiln_pocl *p = kiln_device_is_pocl(facts) ? calloc(1, sizeof *p) : NULL;
    if (!p)
        return NULL;
    p->keepalive = kiln_keepalive_open(context, device, facts, settings->keepalive_us,
                                       settings->place_threads);
    facts->shares_work = can_share(p, context, device, programs, logger);
    p->buffers_stay = settings->buffers_stay;
    p->queues_flushed = settings->queues_flushed;
    p->check_flushed = settings->check_flushed && settings->queues_flushed;
    p->device = device;
    if (p->buffers_stay)
        open_promises(p, context, device, facts, programs, p->queues_flushed);
    if (p->keepalive || p->pointers)
        return p;
    free(p);
    return NULL;
}

void kiln_pocl_open_promises(kiln_pocl *p, cl_context context, cl_device_id device,
                             const kiln_device_facts *facts, kiln_programs *programs)
{
    if (p)
        open_promises(p, context, device, facts, programs, true);
}

void kiln_pocl_close(kiln_pocl *p)
{
    if (!p)
        return;
    kiln_command_batch_close(p->batch);
    kiln_keepalive_close(p->keepalive);
    if (p->pointers)
        clReleaseCommandQueue(p->pointers);
    free(p);
}

void kiln_pocl_flush(kiln_pocl *p, cl_command_queue queue)
{
    if (!p)
        return;
    kiln_command_batch_end(p->batch, queue);
    if (p->check_flushed)
        kiln_flush_checked(queue);
}

void kiln_pocl_wait(kiln_pocl *p, cl_command_queue queue)
{
    if (p)
        kiln_keepalive_wait(p->keepalive, queue);
}
