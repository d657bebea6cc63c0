/* Turns flags into problems. */
#include "request.h"

#include "host.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *word;
    kiln_type type;
} words[] = {
    {"conv", KILN_F32}, {"convfp16", KILN_F16}, {"convbfp16", KILN_BF16}, {"convint8", KILN_I8}};

bool request_word(const char *word, kiln_type *type)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, word) == 0) {
            *type = words[i].type;
            return true;
        }
    return false;
}

static kiln_status say(kiln_status status, char *why, const char *text)
{
    snprintf(why, KILN_ERROR_TEXT, "%s", text);
    return status;
}

/* Flags of MIOpen's that only some of their values make sense of here. */
static kiln_status check_foreign(const flags *f, char *why)
{
    const struct {
        bool asked;
        kiln_status status;
        const char *text;
    } rules[] = {
        {f->pad_val != 0, KILN_UNSUPPORTED, "--pad_val: padding is always zero"},
        {f->tensor_vect && f->vector_length > 1, KILN_INVALID,
         "--tensor_vect 1 means vectors of 4; give it or --vector_length"},
        {strcmp(f->in_cast, "-1") || strcmp(f->out_cast, "-1") || strcmp(f->wei_cast, "-1"),
         KILN_UNSUPPORTED, "--in_cast_type, --out_cast_type, --wei_cast_type: 8-bit floats"},
        {f->gpualloc && f->verify, KILN_INVALID,
         "--gpualloc 1 leaves nothing to verify; give -V 0 with it"},
        {*f->in_bias && !f->bias, KILN_INVALID, "--in_bias needs --bias 1"},
        {(*f->bias_layout || *f->bias_type) && !f->bias && !*f->problem, KILN_INVALID,
         "--bias_layout and --bias_type need --bias 1"},
        {f->json && f->csv, KILN_INVALID, "--json and --csv exclude each other"},
        {*f->config && f->search, KILN_INVALID, "--config and --search 1 exclude each other"},
        {f->dry_run && f->search, KILN_INVALID, "--search 1 must measure: not with --dry-run"},
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

kiln_status request_check(request *r, char *why)
{
    const flags *f = &r->flags;
    kiln_status status = check_foreign(f, why);
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
    bool several = __builtin_popcount((unsigned)f->forw) != 1 && r->source != REQUEST_KEY;
    if (f->dump_output && f->fill == HOST_FILL_INT && several)
        return say(KILN_INVALID, why,
                   "--dump_output with --fill int takes one direction at a time: the data depend "
                   "on it");
    if (has_epilogue(f) && !request_wants(r, KILN_FORWARD))
        return say(KILN_INVALID, why,
                   "--activation, --alpha and --beta belong to the forward direction, which -F "
                   "leaves out");
    return KILN_OK;
}

bool request_wants(const request *r, kiln_direction direction)
{
    if (r->source == REQUEST_KEY && !flags_given(&r->flags, "forw"))
        return direction == r->base.direction;
    return r->flags.forw == 0 || (r->flags.forw >> direction & 1);
}

/* Padding of -z same: the output is the input divided by the stride, rounded up; where the total is
 * odd the larger half goes behind. */
static void pad_same(kiln_problem *p, int i)
{
    int64_t out = (p->input[i] + p->stride[i] - 1) / p->stride[i];
    int64_t total =
        (out - 1) * p->stride[i] + (p->filter[i] - 1) * p->dilation[i] + 1 - p->input[i];
    p->pad_begin[i] = total > 0 ? total / 2 : 0;
    p->pad_end[i] = total > 0 ? total - total / 2 : 0;
}

static void set_axes(const flags *f, kiln_problem *p)
{
    int rank = (int)f->spatial_dim;
    /* As in MIOpen, -z has no say over a transposed convolution. */
    int64_t mode = f->mode == MODE_TRANS ? PAD_DEFAULT : f->pad_mode;
    for (int i = 0; i < rank; i++) {
        int a = KILN_MAX_RANK - rank + i;
        p->input[i] = f->size[a];
        p->filter[i] = f->filter[a];
        p->stride[i] = f->stride[a];
        p->dilation[i] = f->dilation[a];
        p->output_pad[i] = f->output_pad[a];
        p->pad_begin[i] = mode == PAD_VALID ? 0 : f->pad[a];
        p->pad_end[i] = mode == PAD_VALID ? 0 : f->pad_end[a] < 0 ? f->pad[a] : f->pad_end[a];
        if (mode == PAD_SAME)
            pad_same(p, i);
    }
}

/* MIOpen names the filter's layout by the tensor's letters: NCHW there is OIHW here. */
static kiln_status set_layout(const char *flag, const char *value, bool filter, char *to, char *why)
{
    static const char *const plain[] = {"NCHW", "NCW", "NCDHW", "NCHWC", "NCHWc"};
    static const struct {
        const char *miopen, *kiln;
    } filters[] = {{"NHWC", "OHWI"}, {"NDHWC", "ODHWI"}};
    char name[KILN_LAYOUT_TEXT];
    if (strlen(value) >= sizeof name) {
        snprintf(why, KILN_ERROR_TEXT, "--%s is '%.60s', longer than %d letters", flag, value,
                 KILN_LAYOUT_TEXT - 1);
        return KILN_INVALID;
    }
    bool upper = strpbrk(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != NULL || strcmp(value, "any") == 0;
    for (size_t i = 0; i <= strlen(value); i++)
        name[i] = upper ? value[i] : (char)toupper((unsigned char)value[i]);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(name, plain[i]) == 0)
            *name = '\0';
    for (size_t i = 0; filter && i < sizeof filters / sizeof *filters; i++)
        if (strcmp(name, filters[i].miopen) == 0)
            memcpy(name, filters[i].kiln, strlen(filters[i].kiln) + 1);
    memcpy(to, name, sizeof name);
    return KILN_OK;
}

/* MIOpen's vectorized tensors are channels in blocks. With --tensor_vect the result stays plain. */
static void set_vectors(const flags *f, kiln_problem *p)
{
    static const char *const data[] = {"NCW", "NCHW", "NCDHW"};
    static const char *const filter[] = {"OIW", "OIHW", "OIDHW"};
    const long long length = f->tensor_vect ? 4 : f->vector_length;
    const int i = p->spatial_rank - 1;
    if (length == 1)
        return;
    if (!*p->x_layout)
        snprintf(p->x_layout, KILN_LAYOUT_TEXT, "%s%lldc", data[i], length);
    if (!*p->w_layout)
        snprintf(p->w_layout, KILN_LAYOUT_TEXT, "%s%lldi", filter[i], length);
    if (!*p->y_layout && !f->tensor_vect)
        snprintf(p->y_layout, KILN_LAYOUT_TEXT, "%s%lldc", data[i], length);
}

static kiln_status set_layouts(const flags *f, kiln_problem *p, char *why)
{
    kiln_status status = set_layout("in_layout", f->in_layout, false, p->x_layout, why);
    if (!status)
        status = set_layout("fil_layout", f->fil_layout, true, p->w_layout, why);
    if (!status)
        status = set_layout("out_layout", f->out_layout, false, p->y_layout, why);
    if (!status)
        set_vectors(f, p);
    return status;
}

static kiln_status from_flags(const request *r, kiln_problem *p, char *why)
{
    const flags *f = &r->flags;
    p->transposed = f->mode == MODE_TRANS;
    p->spatial_rank = (int)f->spatial_dim;
    p->batch = f->batch;
    p->in_channels = f->in_channels;
    p->out_channels = f->out_channels;
    p->groups = f->groups;
    set_axes(f, p);
    return set_layouts(f, p, why);
}

static kiln_type *destination_type(kiln_problem *p)
{
    kiln_type *const types[] = {[KILN_FORWARD] = &p->y_type,
                                [KILN_BACKWARD_DATA] = &p->x_type,
                                [KILN_BACKWARD_WEIGHTS] = &p->w_type};
    return types[p->direction];
}

static bool type_named(const char *name, kiln_type *type)
{
    for (int t = KILN_F32; t <= KILN_I32; t++)
        if (strcmp(name, kiln_type_name((kiln_type)t)) == 0) {
            *type = (kiln_type)t;
            return true;
        }
    return false;
}

static kiln_status set_types(kiln_problem *p, kiln_type type, const char *out_type, char *why)
{
    p->x_type = p->w_type = p->y_type = type;
    *destination_type(p) = KILN_TYPE_DEFAULT;
    if (!*out_type || type_named(out_type, destination_type(p)))
        return KILN_OK;
    snprintf(why, KILN_ERROR_TEXT, "--out_type is '%.60s'; it must be f32, f16, bf16, i8 or i32",
             out_type);
    return KILN_INVALID;
}

static kiln_status set_activation(const char *name, kiln_activation *activation, char *why)
{
    for (int i = 0; kiln_activation_name((kiln_activation)i); i++)
        if (strcmp(name, kiln_activation_name((kiln_activation)i)) == 0) {
            *activation = (kiln_activation)i;
            return KILN_OK;
        }
    snprintf(why, KILN_ERROR_TEXT, "--activation is '%.60s'; kiln --help lists the names", name);
    return KILN_INVALID;
}

static kiln_status set_bias(const flags *f, kiln_problem *p, char *why)
{
    kiln_type type = (kiln_type)p->epilogue.bias;
    if (f->bias || flags_given(f, "bias"))
        type = f->bias ? KILN_F32 : KILN_TYPE_DEFAULT;
    if (type && *f->bias_type && (!type_named(f->bias_type, &type) || type > KILN_BF16)) {
        snprintf(why, KILN_ERROR_TEXT, "--bias_type is '%.60s'; it must be f32, f16 or bf16",
                 f->bias_type);
        return KILN_INVALID;
    }
    if (strlen(f->bias_layout) >= sizeof p->bias_layout) {
        snprintf(why, KILN_ERROR_TEXT, "--bias_layout is '%.60s', longer than %d letters",
                 f->bias_layout, KILN_LAYOUT_TEXT - 1);
        return KILN_INVALID;
    }
    if (*f->bias_layout)
        snprintf(p->bias_layout, sizeof p->bias_layout, "%s", f->bias_layout);
    if (p->direction == KILN_BACKWARD_DATA || !type) {
        type = KILN_TYPE_DEFAULT;
        memset(p->bias_layout, 0, sizeof p->bias_layout);
    }
    p->epilogue.bias = p->direction == KILN_BACKWARD_WEIGHTS && type ? KILN_F32 : type;
    return KILN_OK;
}

/* The parameter a where --act_alpha is not given: that of relu6, and what frameworks take. */
static double usual_alpha(kiln_activation activation)
{
    return activation == KILN_CLIPPED_RELU ? 6
           : activation == KILN_LEAKY_RELU ? 0.01
           : activation == KILN_ELU        ? 1
                                           : 0;
}

/* What the flags say of epilogue and attributes goes over what a key says. */
static kiln_status set_extras(const flags *f, kiln_problem *p, char *why)
{
    static const kiln_math maths[] = {KILN_MATH_FAST, KILN_MATH_EXACT, KILN_MATH_REDUCED};
    kiln_epilogue *e = &p->epilogue;
    kiln_status status = set_bias(f, p, why);
    if (status)
        return status;
    if (*f->activation) {
        status = set_activation(f->activation, &e->activation, why);
        if (status)
            return status;
        e->param[0] =
            (float)(flags_given(f, "act_alpha") ? f->act_alpha : usual_alpha(e->activation));
        e->param[1] = (float)f->act_beta;
    }
    if (flags_given(f, "alpha"))
        e->alpha = (float)f->alpha;
    if (flags_given(f, "beta"))
        e->beta = (float)f->beta;
    if (flags_given(f, "math"))
        p->math = maths[f->math];
    if (f->deterministic >= 0)
        p->determinism = f->deterministic ? KILN_DETERMINISTIC : KILN_NONDETERMINISTIC;
    if (flags_given(f, "workspace-limit"))
        p->workspace_limit = f->workspace_limit;
    if (p->direction != KILN_FORWARD)
        *e = (kiln_epilogue){.bias = e->bias};
    return KILN_OK;
}

/* The type that the key's sources have in common, for its other directions. */
static kiln_type source_type(const request *r)
{
    if (r->source != REQUEST_KEY)
        return r->type;
    return r->base.direction == KILN_BACKWARD_DATA ? r->base.w_type : r->base.x_type;
}

kiln_status request_problem(const request *r, kiln_direction direction, kiln_problem *p, char *why)
{
    kiln_status status = KILN_OK;
    bool complete = r->source == REQUEST_KEY && direction == r->base.direction;
    *p = r->source == REQUEST_FLAGS ? (kiln_problem){0} : r->base;
    p->direction = direction;
    if (r->source == REQUEST_FLAGS)
        status = from_flags(r, p, why);
    else if (r->source == REQUEST_SHAPE)
        status = set_layouts(&r->flags, p, why);
    if (r->flags.max_batch && p->batch > r->flags.max_batch)
        p->batch = r->flags.max_batch;
    if (!status && !complete)
        status = set_types(p, source_type(r), r->flags.out_type, why);
    if (!status)
        status = set_extras(&r->flags, p, why);
    return status ? status : kiln_problem_check(p, why);
}

/* The line for the directions of `f`; `named` stands for the flags that describe the problem. */
static void write_line(const request *r, const flags *f, const kiln_problem *named, char *text,
                       size_t size)
{
    char key[KILN_KEY_TEXT] = "";
    if (named)
        kiln_problem_text(named, key, sizeof key);
    int n = snprintf(text, size, "kiln %s%s%s", r->word, named ? " --problem " : "", key);
    flags_repro(f, !named, text + n, size - (size_t)n);
}

void request_repro(const request *r, kiln_direction direction, char *text, size_t size)
{
    flags one = r->flags;
    kiln_problem p;
    char why[KILN_ERROR_TEXT];
    bool named = r->source != REQUEST_FLAGS && !request_problem(r, direction, &p, why);
    one.forw = named ? 0 : 1 << direction; /* a name says its direction itself */
    write_line(r, &one, named ? &p : NULL, text, size);
}

void request_line(const request *r, char *text, size_t size)
{
    flags all = r->flags;
    kiln_problem p;
    char why[KILN_ERROR_TEXT];
    bool named = false;
    for (int d = KILN_FORWARD; d <= KILN_BACKWARD_WEIGHTS && !named; d++)
        named = r->source != REQUEST_FLAGS && request_wants(r, (kiln_direction)d) &&
                !request_problem(r, (kiln_direction)d, &p, why);
    bool mask = r->source == REQUEST_SHAPE || flags_given(&r->flags, "forw");
    all.forw = !named ? all.forw : !mask ? 0 : all.forw ? all.forw : 7;
    write_line(r, &all, named ? &p : NULL, text, size);
}
