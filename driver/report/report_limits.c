/* Measures or counts what a device can do at most. */
#include "report_limits.h"

#include "kiln_tune.h"

#include "device_limits.h"

static void set_measured(report_limit *limit, const limit_rounds *rounds, double seconds)
{
    if (limit->origin != LIMIT_UNKNOWN || rounds->count == 0)
        return;
    *limit = (report_limit){.value = limit_rounds_best(rounds),
                            .least = limit_rounds_least(rounds),
                            .rounds = rounds->count,
                            .seconds = seconds,
                            .origin = LIMIT_MEASURED};
}

static void set(report_limit *limit, double value, int origin)
{
    if (value > 0 && limit->origin == LIMIT_UNKNOWN) {
        limit->value = value;
        limit->origin = origin;
    }
}

void report_limits_give(report_data *d, const double gflops[KILN_TYPES], double gbs)
{
    for (int i = 0; i < d->devices; i++) {
        for (int t = 0; t < KILN_TYPES; t++)
            set(&d->device[i].gflops[t], gflops[t], LIMIT_GIVEN);
        set(&d->device[i].gbs, gbs, LIMIT_GIVEN);
    }
}

report_device *report_limits_device(report_data *d, const session *s)
{
    kiln_trial_line of;
    kiln_trial_line_fill(&of, s->kiln, NULL, NULL);
    const int before = d->devices;
    const int index = report_data_device(d, of.device, of.core);
    if (index < 0 || index >= before) {
        d->devices = before;
        return NULL;
    }
    snprintf(d->device[index].driver, sizeof d->device[index].driver, "%.63s", of.driver);
    return &d->device[index];
}

void report_limits_find(report_data *d, const session *s, bool counted)
{
    report_device *device = report_limits_device(d, s);
    if (!device)
        return;
    const bool needed = !device->gflops[KILN_F32].value || !device->gbs.value;
    if (!counted && needed) {
        kiln_device_measure(s->kiln); /* for later starts; the page says what is measured now */
        const device_limits limits = device_limits_measure(s);
        set_measured(&device->gflops[KILN_F32], &limits.gflops, limits.seconds);
        set_measured(&device->gbs, &limits.gbs, limits.seconds);
        limit_rounds_doubt(&limits.gflops, &limits.gbs, &limits.others, device->doubt,
                           sizeof device->doubt);
    }
    for (int t = 0; t < KILN_TYPES; t++)
        set(&device->gflops[t], kiln_device_gflops(s->kiln, (kiln_type)t), LIMIT_COUNTED);
    set(&device->gbs, kiln_device_gbs(s->kiln), LIMIT_COUNTED);
}

const char *report_limit_origin(const report_limit *limit, char text[REPORT_ORIGIN])
{
    static const char *const words[] = {
        [LIMIT_UNKNOWN] = "unknown",
        [LIMIT_GIVEN] = "as given on the command line",
        [LIMIT_MEASURED] = "measured for this page",
        [LIMIT_COUNTED] = "counted from units and clock",
    };
    snprintf(text, REPORT_ORIGIN, "%s", words[limit->origin]);
    if (limit->rounds > 0)
        snprintf(text, REPORT_ORIGIN,
                 "%s: the best of %d rounds over %.0f s, the least of which is %.3g",
                 words[limit->origin], limit->rounds, limit->seconds, limit->least);
    return text;
}
