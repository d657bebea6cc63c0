/* A request as a whole: its word, whether its flags go together, the line that repeats it. */
#include "request.h"

#include "driver/reference/host.h"

#include <string.h>

static const struct {
    const char *word;
    kiln_type type;
} words[] = {{"conv", KILN_F32},    {"convfp16", KILN_F16},   {"convbfp16", KILN_BF16},
             {"convint8", KILN_I8}, {"convfp8", KILN_F8E4M3}, {"convbfp8", KILN_F8E5M2}};

bool request_word(const char *word, kiln_type *type)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, word) == 0) {
            *type = words[i].type;
            return true;
        }
    return false;
}

const char *request_word_of(kiln_type type)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].type == type)
            return words[i].word;
    return NULL;
}

static kiln_status say(kiln_status status, char *why, const char *text)
{
    snprintf(why, KILN_ERROR_TEXT, "%s", text);
    return status;
}

/* Refuses values and combinations of flags that kiln does not take. */
static kiln_status check_flags(const flags *f, char *why)
{
    const struct {
        bool asked;
        kiln_status status;
        const char *text;
    } rules[] = {
        {f->pad_val != 0, KILN_UNSUPPORTED, "--pad_val is not 0: kiln pads with zeros only"},
        {f->tensor_vect && f->vector_length > 1, KILN_INVALID,
         "--tensor_vect 1 means --vector_length 4; give one of the two"},
        {strcmp(f->in_cast, "-1") || strcmp(f->out_cast, "-1") || strcmp(f->wei_cast, "-1"),
         KILN_UNSUPPORTED,
         "--in_cast_type, --out_cast_type and --wei_cast_type ask for casts, which kiln lacks; "
         "convfp8 and convbfp8 store 8-bit floats"},
        {f->gpualloc && f->verify, KILN_INVALID,
         "--gpualloc 1 leaves nothing to verify; give -V 0 with it"},
        {(*f->bias_layout || *f->bias_type) && !f->bias && !*f->problem, KILN_INVALID,
         "--bias_layout and --bias_type need --bias 1"},
        {f->json && f->csv, KILN_INVALID, "--json and --csv exclude each other"},
        {*f->config && f->search, KILN_INVALID, "--config and --search 1 exclude each other"},
        {f->dry_run && f->search, KILN_INVALID,
         "--search 1 measures, which --dry-run excludes; leave out one of them"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].asked)
            return say(rules[i].status, why, rules[i].text);
    return KILN_OK;
}

static bool has_epilogue(const flags *f)
{
    return *f->activation || f->alpha != 1 || f->beta != 0;
}

static bool has_quant(const flags *f)
{
    return f->x_scale != 1 || f->w_scale != 1 || f->y_scale != 1 || f->x_zero || f->w_zero ||
           f->y_zero || f->rounding || *f->w_scales || *f->x_type || *f->w_type;
}

/* Whether the forward direction, the only one that reads a bias, is wanted and has none. */
static bool lacks_bias(const request *r)
{
    kiln_problem p;
    char why[KILN_ERROR_TEXT];
    return request_wants(r, KILN_FORWARD) && !request_problem(r, KILN_FORWARD, &p, why) &&
           !p.epilogue.bias;
}

kiln_status request_check(request *r, char *why)
{
    const flags *f = &r->flags;
    kiln_status status = check_flags(f, why);
    if (status)
        return status;
    if (*f->problem) {
        const char *other = flags_given_shape(f);
        if (other) {
            snprintf(why, KILN_ERROR_TEXT, "--problem already says what --%s says; give one",
                     other);
            return KILN_INVALID;
        }
        if ((status = kiln_problem_parse(&r->base, f->problem, why)))
            return status;
        r->source = REQUEST_KEY;
    }
    if (*f->in_bias && lacks_bias(r))
        return say(KILN_INVALID, why, "--in_bias needs --bias 1");
    bool several = __builtin_popcount((unsigned)f->forw) != 1 && r->source != REQUEST_KEY;
    if (f->dump_output && f->fill == HOST_FILL_INT && several)
        return say(KILN_INVALID, why,
                   "--dump_output with --fill int takes one direction at a time: the data depend "
                   "on it");
    if (has_epilogue(f) && !request_wants(r, KILN_FORWARD))
        return say(KILN_INVALID, why,
                   "--activation, --alpha and --beta belong to the forward direction, which -F "
                   "leaves out");
    if (has_quant(f) && !request_wants(r, KILN_FORWARD))
        return say(
            KILN_INVALID, why,
            "types of x and w, scales and zero points belong to the forward direction, which "
            "-F leaves out");
    return KILN_OK;
}

const char *request_solver(const request *r)
{
    const char *solver = r->flags.solution;
    return strcmp(solver, "-1") == 0 || strcmp(solver, "0") == 0 ? NULL : solver;
}

bool request_wants(const request *r, kiln_direction direction)
{
    if (r->source == REQUEST_KEY && !flags_given(&r->flags, "forw"))
        return direction == r->base.direction;
    return r->flags.forw == 0 || (r->flags.forw >> direction & 1);
}

/* Writes the line that runs the directions of `f`. `named` is the problem whose name stands in for
 * flags; NULL: flags say all. */
static void write_line(const request *r, const flags *f, const kiln_problem *named,
                       flags_saying saying, char *text, size_t size)
{
    char key[KILN_KEY_TEXT] = "";
    if (named)
        kiln_problem_text(named, key, sizeof key);
    int n = snprintf(text, size, "kiln %s%s%s", r->word, named ? " --problem " : "", key);
    flags_repro(f, named ? saying : FLAGS_SAY_PROBLEM, text + n, size - (size_t)n);
}

void request_repro(const request *r, kiln_direction direction, char *text, size_t size)
{
    flags one = r->flags;
    kiln_problem p;
    char why[KILN_ERROR_TEXT];
    bool named = r->source != REQUEST_FLAGS && !request_problem(r, direction, &p, why);
    one.forw = named ? 0 : 1 << direction; /* a name says its direction itself */
    if (direction != KILN_FORWARD) {       /* request_check() refuses what is idle */
        one.activation = "";
        one.alpha = 1;
        one.beta = 0;
        one.x_scale = one.w_scale = one.y_scale = 1;
        one.x_zero = one.w_zero = one.y_zero = one.rounding = 0;
        one.w_scales = one.x_type = one.w_type = "";
    }
    write_line(r, &one, named ? &p : NULL, FLAGS_SAY_RUN, text, size);
}

/* Makes *p the problem whose name says of a shape what all its wanted directions need: the backward
 * data direction has no bias. */
static bool name_of_shape(const request *r, kiln_problem *p)
{
    static const kiln_direction order[] = {KILN_FORWARD, KILN_BACKWARD_WEIGHTS, KILN_BACKWARD_DATA};
    char why[KILN_ERROR_TEXT];
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (request_wants(r, order[i]) && !request_problem(r, order[i], p, why))
            return true;
    return false;
}

void request_line(const request *r, char *text, size_t size)
{
    flags all = r->flags;
    kiln_problem p = r->base;
    const bool key = r->source == REQUEST_KEY;
    const bool named = key || (r->source == REQUEST_SHAPE && name_of_shape(r, &p));
    bool mask = r->source == REQUEST_SHAPE || flags_given(&r->flags, "forw");
    all.forw = !named ? all.forw : !mask ? 0 : all.forw ? all.forw : 7;
    write_line(r, &all, named ? &p : NULL, key ? FLAGS_SAY_EPILOGUE : FLAGS_SAY_RUN, text, size);
}
