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
        .unit = kiln_gpu_unit_of(NULL),
        .compute_units = 2,
        .max_group = 1024,
        .max_local = {1024, 1024, 64},
        .local_memory = 32 << 10,
        .max_constant = 64 << 10,
        .global_memory = (int64_t)1 << 56,
        .max_alloc = (int64_t)1 << 56,
        .base_align = 128,
        .cache = 8 << 20,
        .core_cache = 1 << 20,
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

/* A device may tell more or fewer lanes than its family's row: the faster instructions of its units
 * come in proportion. */
static void set_peaks(kiln_gpu_facts *g, const kiln_gpu_unit *unit, int units)
{
    const double of_lanes = 2 * g->clock_ghz * units * g->unit_lanes / unit->mads_f32;
    g->peak_f64 = of_lanes * unit->mads_f64;
    g->peak_f32 = of_lanes * unit->mads_f32;
    g->peak_f16 = of_lanes * unit->mads_f16;
    g->peak_bf16 = of_lanes * unit->mads_bf16;
    g->peak_i8 = of_lanes * unit->mads_i8;
}

/* Some devices tell a clock of 0 or of 1 MHz. */
static double clock_of(double told, double usual)
{
    return told < 0.1 ? usual : told;
}

static void set_gpu(kiln_device_facts *d, double ghz)
{
    kiln_gpu_facts *g = &d->gpu;
    const kiln_gpu_unit *unit = d->unit = kiln_gpu_unit_of(&g->id);
    g->clock_ghz = clock_of(ghz, unit->clock_ghz);
    g->subgroup = g->subgroup ? g->subgroup : unit->subgroup;
    g->unit_lanes = g->unit_lanes ? g->unit_lanes : unit->mads_f32;
    g->group_registers = g->group_registers ? g->group_registers : unit->registers;
    g->enqueue_ms = g->enqueue_ms > 0 ? g->enqueue_ms : unit->enqueue_ms;
    g->memory_gbs = g->memory_gbs > 0 ? g->memory_gbs : unit->memory_gbs * d->compute_units;
    set_peaks(g, unit, d->compute_units);
    d->peak_gflops = g->peak_f32;
    d->bandwidth_gbs = unit->moved * g->memory_gbs;
}

/* Kernels that do little else than move reach half of a copy's bandwidth on a CPU. Only ratios
 * matter to predict(). */
static void set_cpu(kiln_device_facts *d, double ghz)
{
    const double lanes = d->cpu->sums * d->cpu->clock * kiln_device_unit_floats(d);
    d->peak_gflops = 2 * lanes * clock_of(ghz, 3) * d->compute_units;
    d->bandwidth_gbs = d->cpu->memory_gbs / 2 * d->compute_units;
}

void kiln_device_set_roofline(kiln_device_facts *d, double ghz)
{
    if (d->kind == KILN_DEVICE_GPU)
        set_gpu(d, ghz);
    else
        set_cpu(d, ghz);
}

double kiln_device_peak(const kiln_device_facts *d, kiln_type type)
{
    const double of_gpu[] = {[KILN_F32] = d->gpu.peak_f32,
                             [KILN_F16] = d->gpu.peak_f16,
                             [KILN_BF16] = d->gpu.peak_bf16,
                             [KILN_I8] = d->gpu.peak_i8};
    if (d->kind != KILN_DEVICE_GPU)
        return type == KILN_F32 ? d->peak_gflops : 0;
    return (size_t)type < sizeof of_gpu / sizeof *of_gpu ? of_gpu[type] : 0;
}

double kiln_device_copy_gbs(const kiln_device_facts *d)
{
    return d->kind == KILN_DEVICE_GPU ? d->gpu.memory_gbs : kiln_device_memory_gbs(d);
}

/* Devices that are no GPU have the row "generic". */
double kiln_device_unit_lanes(const kiln_device_facts *d)
{
    return d->gpu.unit_lanes ? d->gpu.unit_lanes : d->unit->mads_f32;
}

int64_t kiln_device_unit_registers(const kiln_device_facts *d)
{
    return d->gpu.group_registers ? d->gpu.group_registers : d->unit->registers;
}

double kiln_device_fit_ghz(const kiln_device_facts *d, const kiln_fit *fit)
{
    return d->gpu.clock_ghz > 0 ? fit->ghz * (d->gpu.clock_ghz / fit->told_ghz) : fit->ghz;
}

/* A unit of which nothing is told is counted with two of the largest groups. */
int64_t kiln_device_unit_local(const kiln_device_facts *d)
{
    const int64_t two = 2 * d->local_memory, one = kiln_device_static_local(d);
    return d->unit->local_bytes           ? d->unit->local_bytes
           : d->gpu.unit_local_memory > 0 ? d->gpu.unit_local_memory
           : two > one                    ? two
                                          : one;
}

int64_t kiln_device_static_local(const kiln_device_facts *d)
{
    return d->gpu.static_local_memory > d->local_memory ? d->gpu.static_local_memory
                                                        : d->local_memory;
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
    return bytes < d->cpu->fit.held * (double)d->cache;
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

double kiln_device_pace(const kiln_device_facts *d)
{
    return d->gpu.enqueue_ms > 0 ? d->gpu.enqueue_ms / d->unit->enqueue_ms : 1;
}

/* On a CPU, with PoCL, whose threads the runtime keeps spinning. */
double kiln_device_launch_ms(const kiln_device_facts *d)
{
    return d->kind == KILN_DEVICE_CPU ? 0.003 : kiln_device_pace(d) * d->unit->launch_ms;
}

/* The row "generic", which devices that are no GPU have, tells what was measured on one CPU. */
double kiln_device_next_launch_ms(const kiln_device_facts *d)
{
    return kiln_device_pace(d) * d->unit->next_launch_ms;
}

double kiln_device_behind_ms(const kiln_device_facts *d)
{
    return d->unit->behind_ms;
}

double kiln_device_enqueue_ms(const kiln_device_facts *d)
{
    return kiln_device_pace(d) * d->unit->enqueue_ms;
}

double kiln_device_rough_launch_ms(const kiln_device_facts *d)
{
    return kiln_device_pace(d) * d->unit->rough_launch_ms;
}

int64_t kiln_device_group(const kiln_device_facts *d, int64_t wanted)
{
    while (wanted > 1 && (wanted > d->max_group || wanted > d->max_local[0]))
        wanted /= 2;
    return wanted;
}
