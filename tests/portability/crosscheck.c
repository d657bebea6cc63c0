/* Compares the tensors that `kiln conv -o 1` wrote with the results of oneDNN 2 from the same
 * sources.
 *
 *     crosscheck fwd-f32-n1-c3-k4-i7x5-f3x3-p1x1 [FOLDER]
 *
 * oneDNN runs in f32 on plain formats, twice: with the values and with their magnitudes, whose sum
 * bounds the rounding errors. This program applies bias, factor and the destination's type; it does
 * not compare activations and residuals. Exit status: 0 equal, 1 different, 2 usage, 3 not
 * comparable, 5 a file is missing or of another size.
 */
#include "driver/reference/host.h"
#include "kiln_problem.h"

#include <math.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { X, W, Y, TENSORS, EXIT_USAGE = 2, EXIT_REFUSED = 3, EXIT_FILES = 5 };

typedef struct check {
    kiln_problem p;
    const char *folder;
    int to; /* the tensor to compare */
    kiln_type type[TENSORS];
    int64_t count[TENSORS];
    float *value[TENSORS], *magnitude[TENSORS]; /* of `to`: oneDNN's results */
    dnnl_engine_t engine;
} check;

static void give_up(int status, const char *what, const char *why)
{
    fprintf(stderr, "crosscheck: %s: %s\n", what, why);
    exit(status);
}

static void need(dnnl_status_t status, const char *call)
{
    static char text[32];
    snprintf(text, sizeof text, "oneDNN status %d", (int)status);
    if (status != dnnl_success)
        give_up(status == dnnl_unimplemented ? EXIT_REFUSED : EXIT_FAILURE, call, text);
}

static float *new_floats(int64_t count)
{
    float *f = calloc((size_t)count, sizeof *f);
    if (!f)
        give_up(EXIT_FAILURE, "memory", "there is not enough");
    return f;
}

/* ---- files ---- */

static float *read_file(const check *c, const char *name, kiln_type type, int64_t count)
{
    char path[4096];
    const size_t bytes = (size_t)count * kiln_type_size(type);
    snprintf(path, sizeof path, "%s/%s", c->folder, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        give_up(EXIT_FILES, path, "it does not open");
    void *raw = malloc(bytes + 1);
    if (!raw || fread(raw, 1, bytes + 1, file) != bytes)
        give_up(EXIT_FILES, path, "it has another size than the problem's tensor");
    fclose(file);
    float *values = new_floats(count);
    for (int64_t i = 0; i < count; i++)
        values[i] = (float)host_get(type, raw, i);
    free(raw);
    return values;
}

static void read_sources(check *c)
{
    static const char *const names[] = {"dump_in.bin", "dump_wei.bin", "dump_dout.bin"};
    for (int i = X; i <= Y; i++) {
        c->value[i] =
            i == c->to ? new_floats(c->count[i]) : read_file(c, names[i], c->type[i], c->count[i]);
        c->magnitude[i] = new_floats(c->count[i]);
        for (int64_t j = 0; j < c->count[i] && i != c->to; j++)
            c->magnitude[i][j] = fabsf(c->value[i][j]);
    }
}

/* ---- oneDNN ---- */

typedef struct geometry {
    dnnl_dims_t strides, dilates, begin, end;
    dnnl_memory_desc_t desc[TENSORS];
} geometry;

/* Describes sizes and dense strides; the weights of a transposed convolution have their two channel
 * axes exchanged. */
static dnnl_memory_desc_t describe(const kiln_problem *p, int which)
{
    const int rank = p->spatial_rank, lead = which == W ? 3 : 2;
    const int64_t g = p->groups, c = p->in_channels, k = p->out_channels;
    dnnl_dims_t size = {p->batch, which == X ? c : k}, pitch;
    if (which == W) {
        size[0] = g;
        size[1] = k / g;
        size[2] = c / g;
    }
    int64_t next = 1;
    for (int i = rank - 1; i >= 0; i--) {
        size[lead + i] = which == X   ? p->input[i]
                         : which == W ? p->filter[i]
                                      : kiln_problem_output(p, i);
        pitch[lead + i] = next;
        next *= size[lead + i];
    }
    for (int i = lead - 1; i >= 0; i--) {
        int axis = which == W && p->transposed && i > 0 ? 3 - i : i;
        pitch[axis] = next;
        next *= size[axis];
    }
    dnnl_memory_desc_t d;
    need(dnnl_memory_desc_init_by_strides(&d, lead + rank, size, dnnl_f32, pitch), "a tensor");
    return d;
}

static geometry geometry_of(const kiln_problem *p)
{
    geometry g;
    for (int i = 0; i < p->spatial_rank; i++) {
        g.strides[i] = p->stride[i];
        g.dilates[i] = p->dilation[i] - 1;
        g.begin[i] = p->pad_begin[i];
        g.end[i] = p->pad_end[i] - (p->transposed ? p->output_pad[i] : 0);
    }
    for (int i = X; i <= Y; i++)
        g.desc[i] = describe(p, i);
    return g;
}

typedef dnnl_status_t forward_init(dnnl_convolution_desc_t *, dnnl_prop_kind_t, dnnl_alg_kind_t,
                                   const dnnl_memory_desc_t *, const dnnl_memory_desc_t *,
                                   const dnnl_memory_desc_t *, const dnnl_memory_desc_t *,
                                   const dnnl_dims_t, const dnnl_dims_t, const dnnl_dims_t,
                                   const dnnl_dims_t);
typedef dnnl_status_t data_init(dnnl_convolution_desc_t *, dnnl_alg_kind_t,
                                const dnnl_memory_desc_t *, const dnnl_memory_desc_t *,
                                const dnnl_memory_desc_t *, const dnnl_dims_t, const dnnl_dims_t,
                                const dnnl_dims_t, const dnnl_dims_t);
typedef dnnl_status_t weights_init(dnnl_convolution_desc_t *, dnnl_alg_kind_t,
                                   const dnnl_memory_desc_t *, const dnnl_memory_desc_t *,
                                   const dnnl_memory_desc_t *, const dnnl_memory_desc_t *,
                                   const dnnl_dims_t, const dnnl_dims_t, const dnnl_dims_t,
                                   const dnnl_dims_t);

static const struct {
    forward_init *forward;
    data_init *data;
    weights_init *weights;
    dnnl_alg_kind_t algorithm;
} calls[] = {{dnnl_dilated_convolution_forward_desc_init,
              dnnl_dilated_convolution_backward_data_desc_init,
              dnnl_dilated_convolution_backward_weights_desc_init, dnnl_convolution_direct},
             {dnnl_dilated_deconvolution_forward_desc_init,
              dnnl_dilated_deconvolution_backward_data_desc_init,
              dnnl_dilated_deconvolution_backward_weights_desc_init, dnnl_deconvolution_direct}};

/* oneDNN wants a forward description with each backward one. */
static dnnl_primitive_t make_primitive(const check *c)
{
    const int kind = c->p.transposed != 0;
    const dnnl_alg_kind_t algorithm = calls[kind].algorithm;
    const geometry g = geometry_of(&c->p);
    dnnl_convolution_desc_t d;
    dnnl_primitive_desc_t hint = NULL, own;
    dnnl_primitive_t primitive;
    need(calls[kind].forward(&d, dnnl_forward_training, algorithm, &g.desc[X], &g.desc[W], NULL,
                             &g.desc[Y], g.strides, g.dilates, g.begin, g.end),
         "forward");
    need(dnnl_primitive_desc_create(&hint, &d, NULL, c->engine, NULL), "a forward primitive");
    if (c->p.direction == KILN_BACKWARD_DATA)
        need(calls[kind].data(&d, algorithm, &g.desc[X], &g.desc[W], &g.desc[Y], g.strides,
                              g.dilates, g.begin, g.end),
             "backward data");
    else if (c->p.direction == KILN_BACKWARD_WEIGHTS)
        need(calls[kind].weights(&d, algorithm, &g.desc[X], &g.desc[W], NULL, &g.desc[Y], g.strides,
                                 g.dilates, g.begin, g.end),
             "backward weights");
    need(dnnl_primitive_desc_create(&own, &d, NULL, c->engine, hint), "a primitive");
    need(dnnl_primitive_create(&primitive, own), "a primitive");
    dnnl_primitive_desc_destroy(hint);
    dnnl_primitive_desc_destroy(own);
    return primitive;
}

static void execute(const check *c, dnnl_primitive_t primitive, float *const data[TENSORS])
{
    static const int argument[][TENSORS] = {
        [KILN_FORWARD] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
        [KILN_BACKWARD_DATA] = {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST},
        [KILN_BACKWARD_WEIGHTS] = {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST},
    };
    dnnl_exec_arg_t args[TENSORS];
    dnnl_stream_t stream;
    need(dnnl_stream_create(&stream, c->engine, dnnl_stream_default_flags), "a stream");
    for (int i = X; i <= Y; i++) {
        const dnnl_memory_desc_t d = describe(&c->p, i);
        args[i].arg = argument[c->p.direction][i];
        need(dnnl_memory_create(&args[i].memory, &d, c->engine, data[i]), "a tensor");
    }
    need(dnnl_primitive_execute(primitive, stream, TENSORS, args), "running");
    need(dnnl_stream_wait(stream), "running");
    for (int i = X; i <= Y; i++)
        dnnl_memory_destroy(args[i].memory);
    dnnl_stream_destroy(stream);
}

/* ---- comparing ---- */

/* Applies bias and factor to the sums, in place. */
static void finish(const check *c)
{
    const kiln_epilogue *e = &c->p.epilogue;
    if (c->p.direction != KILN_FORWARD)
        return;
    float *bias = e->bias ? read_file(c, "dump_bias.bin", KILN_F32, c->p.out_channels) : NULL;
    const int64_t plane = c->count[Y] / c->p.batch / c->p.out_channels;
    for (int64_t i = 0; i < c->count[Y]; i++) {
        const float b = bias ? bias[i / plane % c->p.out_channels] : 0;
        c->value[Y][i] = e->alpha * c->value[Y][i] + b;
        c->magnitude[Y][i] = fabsf(e->alpha) * c->magnitude[Y][i] + fabsf(b);
    }
    free(bias);
}

/* Returns half a unit of the last place, relative; integers are rounded separately. */
static double rounding_of(kiln_type type)
{
    return type == KILN_F16 ? 0x1p-11 : type == KILN_BF16 ? 0x1p-8 : 0x1p-24;
}

/* Returns the mean over the tensor. The errors of a Winograd transform are in proportion to the
 * sums of a whole tile, so that an element whose exact value is 0 need not be 0; the mean stands
 * for these sums. */
static double mean_of(const float *magnitude, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += magnitude[i];
    return sum / (double)count;
}

static bool compare(const char *what, kiln_type type, int64_t count, const float *got,
                    const float *value, const float *magnitude)
{
    const bool integer = type == KILN_I8 || type == KILN_I32;
    const double mean = integer ? 0 : mean_of(magnitude, count);
    int64_t bad = 0, at = 0;
    double worst = 0;
    for (int64_t i = 0; i < count; i++) {
        double expected = value[i], limit = 1e-5 * fmax(magnitude[i], mean);
        if (type == KILN_I8)
            expected = fmin(fmax(rint(expected), -128), 127);
        if (integer) /* sums below 2^24 are exact in f32 */
            limit = magnitude[i] < 0x1p24 ? 0 : ceil(limit);
        else /* the second term is for numbers too small to be normal in f16 */
            limit += rounding_of(type) * fabs(expected) * 1.01 + (type == KILN_F16 ? 0x1p-25 : 0);
        double error = fabs(got[i] - expected);
        double share = error == 0 ? 0 : limit > 0 ? error / limit : INFINITY;
        bad += !(share <= 1);
        if (!(share <= worst)) {
            worst = share;
            at = i;
        }
    }
    printf("%s: %s, %lld of %lld wrong; at worst %.3g of the bound (element %lld: %.9g, oneDNN "
           "%.9g)\n",
           what, bad ? "FAILED" : "ok", (long long)bad, (long long)count, worst, (long long)at,
           got[at], value[at]);
    return bad == 0;
}

static bool compare_bias_gradient(const check *c)
{
    const int64_t channels = c->p.out_channels, plane = c->count[Y] / c->p.batch / channels;
    float *got = read_file(c, "dump_bwd_db_gpu.bin", KILN_F32, channels),
          *value = new_floats(channels), *magnitude = new_floats(channels);
    for (int64_t k = 0; k < channels; k++) {
        double sum = 0, size = 0;
        for (int64_t n = 0; n < c->p.batch; n++)
            for (int64_t i = 0; i < plane; i++) {
                double v = c->value[Y][(n * channels + k) * plane + i];
                sum += v;
                size += fabs(v);
            }
        value[k] = (float)sum;
        magnitude[k] = (float)size;
    }
    bool equal = compare("bias gradient", KILN_F32, channels, got, value, magnitude);
    free(got);
    free(value);
    free(magnitude);
    return equal;
}

static void set_problem(check *c, const char *key)
{
    static const int to[] = {Y, X, W};
    char why[KILN_ERROR_TEXT];
    if (kiln_problem_parse(&c->p, key, why) != KILN_OK)
        give_up(EXIT_USAGE, key, why);
    const kiln_type types[] = {c->p.x_type, c->p.w_type, c->p.y_type};
    c->to = to[c->p.direction];
    for (int i = X; i <= Y; i++) {
        c->type[i] = types[i];
        c->count[i] = kiln_problem_count(&c->p, "xwy"[i]);
    }
    if (c->p.epilogue.activation != KILN_IDENTITY || c->p.epilogue.beta != 0)
        give_up(EXIT_REFUSED, key, "activations and residuals are not compared");
}

int main(int count, char **words)
{
    static const char *const results[] = {"dump_fwd_out_gpu.bin", "dump_bwd_din_gpu.bin",
                                          "dump_bwd_dwei_gpu.bin"};
    check c = {.folder = count == 3 ? words[2] : "."};
    if (count != 2 && count != 3)
        give_up(EXIT_USAGE, "usage", "crosscheck PROBLEM [FOLDER]");
    set_problem(&c, words[1]);
    read_sources(&c);
    need(dnnl_engine_create(&c.engine, dnnl_cpu, 0), "an engine");
    dnnl_primitive_t primitive = make_primitive(&c);
    execute(&c, primitive, c.value);
    execute(&c, primitive, c.magnitude);
    dnnl_primitive_destroy(primitive);
    dnnl_engine_destroy(c.engine);
    finish(&c);
    float *got = read_file(&c, results[c.p.direction], c.type[c.to], c.count[c.to]);
    bool equal =
        compare(words[1], c.type[c.to], c.count[c.to], got, c.value[c.to], c.magnitude[c.to]);
    if (c.p.direction == KILN_BACKWARD_WEIGHTS && c.p.epilogue.bias)
        equal = compare_bias_gradient(&c) && equal;
    free(got);
    for (int i = X; i <= Y; i++) {
        free(c.value[i]);
        free(c.magnitude[i]);
    }
    return equal ? EXIT_SUCCESS : EXIT_FAILURE;
}
