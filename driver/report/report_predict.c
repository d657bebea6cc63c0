/* Asks the library for predicted times. */
#include "report_predict.h"

#include "report_limits.h"

static void predict(report_layer *l, const session *s)
{
    const kiln_choice choice = {.solver = l->best.solver, .config = l->best.config};
    kiln_op_info info;
    if (!l->known || l->best.ms <= 0 || l->best.predicted_ms > 0 || !*l->best.solver ||
        kiln_conv_plan(s->kiln, &l->problem, &choice, &info) != KILN_OK)
        return;
    /* A config of another version is another config. */
    if (l->best.version == 0 || l->best.version == info.solver_version)
        l->best.predicted_ms = report_time(info.predicted_ms);
}

void report_predict(report_data *d, const session *s)
{
    const report_device *device = report_limits_device(d, s);
    for (size_t i = 0; i < d->layers && device; i++)
        if (&d->device[d->layer[i].device] == device)
            predict(&d->layer[i], s);
}
