/* Fuzzes the generator: bytes choose a device, a problem, a solver and a config; the plan must keep
 * its invariants. */
#include "plan_check.h"

static const char *pick_layout(int byte)
{
    static const char *const usual[] = {"",
                                        "",
                                        "",
                                        "any",
                                        "NHWC",
                                        "OHWI",
                                        "NC/16HW16",
                                        "NC/8HW8",
                                        "OIHW16i16o",
                                        "OIHW8i8o",
                                        "IMG_CHANNEL_MAJOR",
                                        "IMG_CONV_FILTER"};
    enum { USUAL = sizeof usual / sizeof *usual };
    if (byte < USUAL)
        return usual[byte];
    const kiln_layout_entry *entry = kiln_layout_at(byte - USUAL);
    return entry ? entry->name : "";
}

/* Most sizes that occur are small, or are round. */
static int64_t pick_size(int byte)
{
    static const int64_t large[] = {112,  128,  192,  224,   256,   320,     512,     1000,
                                    1024, 2048, 4096, 65535, 65536, 1 << 20, 1 << 28, INT32_MAX};
    return byte < 96 ? byte : large[byte % 16];
}

static void pick_axes(fuzz_bytes *b, kiln_problem *p)
{
    for (int i = 0; i < p->spatial_rank; i++) {
        p->input[i] = pick_size(fuzz_byte(b));
        p->filter[i] = fuzz_byte(b) % 12;
        const int steps = fuzz_byte(b), pads = fuzz_byte(b);
        p->stride[i] = steps % 5;
        p->dilation[i] = steps / 8 % 5;
        p->output_pad[i] = p->transposed ? steps / 64 : 0;
        p->pad_begin[i] = pads % 6;
        p->pad_end[i] = pads & 128 ? pads / 6 % 6 : pads % 6;
    }
}

static void pick_epilogue(fuzz_bytes *b, kiln_problem *p)
{
    const int which = fuzz_byte(b);
    p->epilogue.bias = which % 4;
    if (which & 4)
        p->epilogue.alpha = 0.5f;
    if (which & 8)
        p->epilogue.beta = 1;
    if (which & 16) {
        p->epilogue.activation = (kiln_activation)(fuzz_byte(b) % KILN_ACTIVATIONS);
        p->epilogue.param[0] = 1;
    }
    if (which & 32)
        strcpy(p->bias_layout, "IMG_ARGUMENT");
}

static void pick_problem(fuzz_bytes *b, kiln_problem *p)
{
    const int kind = fuzz_byte(b), types = fuzz_byte(b), rules = fuzz_byte(b);
    memset(p, 0, sizeof *p);
    p->direction = (kiln_direction)(kind % 3);
    p->transposed = kind & 128 ? 1 : 0;
    p->spatial_rank = kind & 64 ? 1 + kind / 3 % 3 : 2;
    p->x_type = p->w_type = p->y_type = (kiln_type)(types % 5);
    if (types & 64)
        p->y_type = (kiln_type)(types / 5 % 6);
    strcpy(p->x_layout, pick_layout(fuzz_byte(b)));
    strcpy(p->w_layout, pick_layout(fuzz_byte(b)));
    strcpy(p->y_layout, pick_layout(fuzz_byte(b)));
    p->batch = pick_size(fuzz_byte(b));
    p->in_channels = pick_size(fuzz_byte(b));
    p->out_channels = pick_size(fuzz_byte(b));
    p->groups = pick_size(fuzz_byte(b));
    pick_axes(b, p);
    p->determinism = (kiln_determinism)(rules % 3);
    p->math = (kiln_math)(rules / 3 % 4);
    p->workspace_limit = rules & 64 ? 1 << 20 : 0;
    if (rules & 128)
        pick_epilogue(b, p);
}

/* Some solvers take few shapes, which sizes by chance seldom make. */
static void make_usual(int which, kiln_problem *p)
{
    enum { POINTWISE = 1, DEPTHWISE = 2, SMALL_STEPS = 4, IMAGES = 8, CHANNELS = 16 };
    for (int i = 0; i < p->spatial_rank; i++) {
        if (which & POINTWISE) {
            p->filter[i] = 1;
            p->pad_begin[i] = p->pad_end[i] = 0;
        }
        if (which & SMALL_STEPS)
            p->stride[i] = p->dilation[i] = 1;
    }
    if (which & CHANNELS) {
        p->in_channels = p->in_channels % 8 * 16 + 16;
        p->out_channels = p->out_channels % 8 * 16 + 16;
        p->groups = 1;
    }
    if (which & DEPTHWISE) {
        p->out_channels = p->in_channels * (1 + p->out_channels % 3);
        p->groups = p->in_channels;
    }
    if (which & IMAGES) {
        strcpy(p->x_layout, "IMG_CHANNEL_MAJOR");
        strcpy(p->w_layout, which & DEPTHWISE ? "IMG_DW_FILTER" : "IMG_CONV_FILTER");
        strcpy(p->y_layout, "IMG_CHANNEL_MAJOR");
    }
}

/* Values of the parameter table, or in its ranges. */
static void pick_config(fuzz_bytes *b, const kiln_solver *solver, kiln_config *c)
{
    for (int i = 0; i < solver->nparams; i++) {
        const kiln_param *param = &solver->params[i];
        const int byte = fuzz_byte(b);
        if (byte & 128 && param->max > param->min)
            c->v[i] = param->min + byte % (param->max - param->min + 1);
        else if (param->nvalues)
            c->v[i] = param->value[byte % param->nvalues];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { GUESS = 128, MOST = 96 };
    fuzz_bytes b = {data, size < MOST ? size : MOST};
    const int kind = fuzz_byte(&b), limits = fuzz_byte(&b), which = fuzz_byte(&b);
    int solvers = 0;
    while (kiln_solver_at(solvers))
        solvers++;
    const kiln_device_facts d = fuzz_device(kind, limits);
    const kiln_solver *solver = kiln_solver_at((which & ~GUESS) % solvers);
    kiln_problem p;
    kiln_config c = {{0}};
    char why[KILN_ERROR_TEXT] = "";
    pick_problem(&b, &p);
    pick_config(&b, solver, &c);
    make_usual(fuzz_byte(&b), &p);
    if (kiln_problem_check(&p, why))
        fuzz_check_why(why, sizeof why);
    else
        fuzz_plan_config(solver, &p, &d, &c, which & GUESS);
    return 0;
}
