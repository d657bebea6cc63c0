/* Asks a device once for what only a probe tells. */
#include "probes.h"

#include "runtime/device/amx.h"
#include "runtime/device/measured.h"
#include "runtime/device/tensor_cores.h"
#include "runtime/pocl/pocl.h"

static void open_pocl(kiln *k)
{
    const kiln_pocl_settings settings = {.keepalive_us = k->keepalive_us,
                                         .place_threads = k->place_threads,
                                         .buffers_stay = k->buffers_stay,
                                         .queues_flushed = k->queues_flushed,
                                         .check_flushed = k->check_flushed};
    if (!k->probed.pocl)
        atomic_store(&k->pocl, kiln_pocl_open(k->context, k->device, &k->facts, k->programs,
                                              &settings, &k->logger));
    k->probed.pocl = true;
}

static void ask_for_amx(kiln *k, const kiln_shape *shape)
{
    if (k->probed.amx || (shape && !kiln_shape_suits_amx(shape)))
        return;
    kiln_amx_probe(k->programs, k->context, k->device, &k->logger, &k->facts);
    k->probed.amx = true;
}

static void ask_for_tensor_cores(kiln *k, const kiln_shape *shape)
{
    if (k->probed.tensor_cores || (shape && !kiln_shape_suits_tensor_cores(shape)))
        return;
    kiln_tensor_cores_probe(k->programs, k->context, k->device, &k->logger, &k->facts);
    k->probed.tensor_cores = true;
}

void kiln_probe_for(kiln *k, const kiln_shape *shape)
{
    if (!k->context)
        return;
    pthread_mutex_lock(&k->probing);
    open_pocl(k);
    ask_for_amx(k, shape);
    ask_for_tensor_cores(k, shape);
    pthread_mutex_unlock(&k->probing);
}

void kiln_probe_pocl(kiln *k)
{
    if (!k->context)
        return;
    pthread_mutex_lock(&k->probing);
    open_pocl(k);
    pthread_mutex_unlock(&k->probing);
}

void kiln_probe_promises(kiln *k)
{
    if (!k->context)
        return;
    pthread_mutex_lock(&k->probing);
    open_pocl(k);
    kiln_pocl_open_promises(k->pocl, k->context, k->device, &k->facts, k->programs);
    pthread_mutex_unlock(&k->probing);
}

void kiln_probe_speed(kiln *k)
{
    kiln_measured m;
    if (!k->context || k->facts.kind != KILN_DEVICE_GPU || !*k->cache_dir)
        return;
    pthread_mutex_lock(&k->probing);
    if (!k->probed.measured && !kiln_measured_load(k->cache_dir, &k->facts, &m, &k->logger) &&
        kiln_measured_take(k->context, k->device, &k->facts, &m))
        kiln_measured_store(k->cache_dir, &k->facts, &m, &k->logger);
    k->probed.measured = true;
    pthread_mutex_unlock(&k->probing);
}
