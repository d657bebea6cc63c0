/* The device that dry runs plan for. */
#include "device.h"

#include <string.h>

kiln_device_facts kiln_device_generic(void)
{
    return (kiln_device_facts){
        .kind = KILN_DEVICE_CPU,
        .name = "generic",
        .vendor = "none",
        .platform = "none",
        .driver = "none",
        .compute_units = 2,
        .max_group = 1024,
        .max_local = {1024, 1024, 64},
        .local_memory = 32 << 10,
        .max_constant = 64 << 10,
        .global_memory = (int64_t)1 << 56,
        .max_alloc = (int64_t)1 << 56,
        .base_align = 128,
        .cache = 8 << 20,
        .image_width = 8192,
        .image_height = 8192,
        .simd_floats = 8,
        .peak_gflops = 100,
        .bandwidth_gbs = 20,
    };
}

bool kiln_device_is_pocl(const kiln_device_facts *d)
{
    return d->kind == KILN_DEVICE_CPU && strcmp(d->platform, "Portable Computing Language") == 0;
}

bool kiln_device_halves(const kiln_device_facts *d)
{
    return d->unit_floats > 0 && d->unit_floats < d->simd_floats;
}

bool kiln_device_keeps_near(const kiln_device_facts *d)
{
    return d->core_cache >= 2 << 20;
}

bool kiln_device_holds(const kiln_device_facts *d, double bytes)
{
    return bytes < 0.7 * (double)d->cache;
}

double kiln_device_move_ms(const kiln_device_facts *d, double bytes)
{
    /* Measured on Zen 4, two cores, in multiples of 10 GB/s a core. */
    double factor = d->kind != KILN_DEVICE_CPU ? 1 : kiln_device_holds(d, bytes) ? 4 : 2;
    return bytes / (factor * d->bandwidth_gbs * 1e6);
}

double kiln_device_launch_ms(const kiln_device_facts *d)
{
    /* On a CPU, with PoCL, whose threads the runtime keeps awake. */
    return d->kind == KILN_DEVICE_CPU ? 0.003 : 0.012;
}
