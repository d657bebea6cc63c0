/* What the facts of a device say together, and the device that dry runs plan for. */
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
        .cpu = kiln_core_of(NULL),
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

/* A GPU unit is counted with 128 lanes and 20 GB/s. Of a CPU's memory kernels that do little else
 * than move reach half of what a copy does. Only ratios matter to predict(). */
void kiln_device_set_roofline(kiln_device_facts *d, double ghz)
{
    const bool gpu = d->kind == KILN_DEVICE_GPU;
    const double lanes = gpu ? 128 : d->cpu->sums * d->cpu->clock * kiln_device_unit_floats(d);
    d->peak_gflops = 2 * lanes * ghz * d->compute_units;
    d->bandwidth_gbs = (gpu ? 20 : d->cpu->memory_gbs / 2) * d->compute_units;
}

int kiln_device_unit_floats(const kiln_device_facts *d)
{
    const int unit = d->cpu->unit_floats;
    return unit > 0 && unit < d->simd_floats ? unit : d->simd_floats;
}

bool kiln_device_double_pumped(const kiln_device_facts *d)
{
    return kiln_device_unit_floats(d) < d->simd_floats;
}

bool kiln_device_large_l2(const kiln_device_facts *d)
{
    return d->core_cache >= 2 << 20;
}

bool kiln_device_holds(const kiln_device_facts *d, double bytes)
{
    return bytes < d->cpu->held * (double)d->cache;
}

double kiln_device_memory_gbs(const kiln_device_facts *d)
{
    return d->kind == KILN_DEVICE_CPU ? d->cpu->memory_gbs * d->compute_units : d->bandwidth_gbs;
}

double kiln_device_move_ms(const kiln_device_facts *d, double bytes)
{
    const bool held = d->kind == KILN_DEVICE_CPU && kiln_device_holds(d, bytes);
    const double gbs = held ? d->cpu->cache_gbs * d->compute_units : kiln_device_memory_gbs(d);
    return bytes / (gbs * 1e6);
}

/* On a CPU, with PoCL, whose threads the runtime keeps spinning. */
double kiln_device_launch_ms(const kiln_device_facts *d)
{
    return d->kind == KILN_DEVICE_CPU ? 0.003 : 0.012;
}

double kiln_device_next_launch_ms(const kiln_device_facts *d)
{
    (void)d; /* measured on one CPU, and counted on all devices */
    return 0.005;
}

double kiln_device_rough_launch_ms(const kiln_device_facts *d)
{
    (void)d;
    return 0.02;
}

int64_t kiln_device_group(const kiln_device_facts *d, int64_t wanted)
{
    while (wanted > 1 && (wanted > d->max_group || wanted > d->max_local[0]))
        wanted /= 2;
    return wanted;
}
