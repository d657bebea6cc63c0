/* Describes a convolution to oneDNN. */
#include "contender_onednn.h"

#include "kiln_layout.h"

#include <string.h>

static const dnnl_format_tag_t plain_data[] = {dnnl_abc, dnnl_abcd, dnnl_abcde},
                               plain_filter[2][ONEDNN_RANKS] = {
                                   {dnnl_abc, dnnl_abcd, dnnl_abcde},
                                   {dnnl_abcd, dnnl_abcde, dnnl_abcdef}};

typedef struct geometry {
    dnnl_dims_t strides, dilates, begin, end;
} geometry;

static geometry geometry_of(const kiln_problem *p)
{
    geometry g;
    for (int i = 0; i < p->spatial_rank; i++) {
        g.strides[i] = p->stride[i];
        g.dilates[i] = p->dilation[i] - 1;
        g.begin[i] = p->pad_begin[i];
        g.end[i] = p->pad_end[i];
    }
    return g;
}

static dnnl_data_type_t type_of(kiln_type type)
{
    static const dnnl_data_type_t types[] = {[KILN_F32] = dnnl_f32,
                                             [KILN_F16] = dnnl_f16,
                                             [KILN_BF16] = dnnl_bf16,
                                             [KILN_I8] = dnnl_s8,
                                             [KILN_I32] = dnnl_s32};
    return types[type];
}

/* Describes the format that the rules give a tensor: axes in any order, or blocks of channels.
 * Returns false where oneDNN has no such format. */
static bool describe_given(const kiln_problem *p, const rules *r, char tensor, bool grouped,
                           dnnl_memory_desc_t *d, int dims, const dnnl_dims_t size,
                           dnnl_data_type_t type)
{
    static const struct {
        const char *spec;
        dnnl_format_tag_t tag;
    } blocks[] = {{"NCHW4c", dnnl_aBcd4b}, {"NCHW8c", dnnl_aBcd8b}, {"NCHW16c", dnnl_aBcd16b}};
    kiln_problem given = *p;
    kiln_storage s;
    dnnl_dims_t strides;
    rules_give_layouts(r, &given);
    if (!kiln_problem_storage(&given, tensor, &s, NULL))
        return false;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (strcmp(s.layout.spec, blocks[i].spec) == 0)
            return !dnnl_memory_desc_init_by_tag(d, dims, size, type, blocks[i].tag);
    if (s.cells != kiln_storage_elements(&s) || strchr(s.layout.dims, 'M'))
        return false;
    for (int i = 0; i < s.layout.ndims; i++)
        strides[i + grouped] = kiln_storage_stride(&s, i);
    if (grouped)
        strides[0] = strides[1] * size[1];
    for (int i = 0; i < dims; i++)
        if (strides[i] < 0)
            return false;
    return !dnnl_memory_desc_init_by_strides(d, dims, size, type, strides);
}

/* Describes the sizes of x, w, y, and their formats under the rules and a way. */
static bool describe(const kiln_problem *p, const rules *r, const onednn_way *v,
                     onednn_tensor t[ONEDNN_TENSORS])
{
    const int rank = p->spatial_rank, at = rank - ONEDNN_FIRST_RANK, grouped = p->groups > 1;
    dnnl_dims_t size[ONEDNN_TENSORS] = {{p->batch, p->in_channels},
                                        {grouped ? p->groups : p->out_channels,
                                         grouped ? p->out_channels / p->groups : p->in_channels,
                                         p->in_channels / p->groups},
                                        {p->batch, p->out_channels}};
    for (int i = 0; i < rank; i++) {
        size[ONEDNN_X][2 + i] = p->input[i];
        size[ONEDNN_W][2 + grouped + i] = p->filter[i];
        size[ONEDNN_Y][2 + i] = kiln_problem_output(p, i);
    }
    const kiln_type types[ONEDNN_TENSORS] = {p->x_type, p->w_type, p->y_type};
    bool fine = true;
    for (int i = ONEDNN_X; i <= ONEDNN_Y; i++) {
        int dims = i == ONEDNN_W ? 2 + grouped + rank : 2 + rank;
        const bool filter = i == ONEDNN_W;
        const dnnl_format_tag_t array = filter ? plain_filter[grouped][at] : plain_data[at],
                                own = filter ? dnnl_format_tag_any : v->tag[at];
        const bool given = filter ? r->filter != NULL : r->layout != RULES_OWN;
        const dnnl_data_type_t type = type_of(types[i]);
        fine =
            fine && !dnnl_memory_desc_init_by_tag(&t[i].array_desc, dims, size[i], type, array) &&
            (given ? describe_given(p, r, "xwy"[i], filter && grouped, &t[i].plain_desc, dims,
                                    size[i], type)
                   : !dnnl_memory_desc_init_by_tag(&t[i].plain_desc, dims, size[i], type, array)) &&
            !dnnl_memory_desc_init_by_tag(&t[i].desc, dims, size[i], type, own);
    }
    return fine;
}

static dnnl_status_t describe_forward(dnnl_convolution_desc_t *d, dnnl_prop_kind_t kind,
                                      const kiln_problem *p, const onednn_way *v,
                                      const onednn_tensor *t)
{
    const geometry g = geometry_of(p);
    return dnnl_dilated_convolution_forward_desc_init(d, kind, v->algorithm, &t[ONEDNN_X].desc,
                                                      &t[ONEDNN_W].desc, NULL, &t[ONEDNN_Y].desc,
                                                      g.strides, g.dilates, g.begin, g.end);
}

static dnnl_status_t describe_backward(dnnl_convolution_desc_t *d, const kiln_problem *p,
                                       const onednn_way *v, const onednn_tensor *t)
{
    const geometry g = geometry_of(p);
    if (p->direction == KILN_BACKWARD_DATA)
        return dnnl_dilated_convolution_backward_data_desc_init(
            d, v->algorithm, &t[ONEDNN_X].desc, &t[ONEDNN_W].desc, &t[ONEDNN_Y].desc, g.strides,
            g.dilates, g.begin, g.end);
    return dnnl_dilated_convolution_backward_weights_desc_init(
        d, v->algorithm, &t[ONEDNN_X].desc, &t[ONEDNN_W].desc, NULL, &t[ONEDNN_Y].desc, g.strides,
        g.dilates, g.begin, g.end);
}

/* oneDNN wants a forward description with each backward one. */
static dnnl_status_t make_descriptor(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                     const kiln_problem *p, const onednn_way *v,
                                     const onednn_tensor *t)
{
    dnnl_convolution_desc_t d;
    dnnl_primitive_desc_t hint = NULL;
    bool forward = p->direction == KILN_FORWARD;
    dnnl_status_t status =
        describe_forward(&d, forward ? dnnl_forward_inference : dnnl_forward_training, p, v, t);
    if (!status && forward)
        return dnnl_primitive_desc_create(out, &d, NULL, engine, NULL);
    if (!status)
        status = dnnl_primitive_desc_create(&hint, &d, NULL, engine, NULL);
    if (!status)
        status = describe_backward(&d, p, v, t);
    if (!status)
        status = dnnl_primitive_desc_create(out, &d, NULL, engine, hint);
    if (hint)
        dnnl_primitive_desc_destroy(hint);
    return status;
}

/* Takes the formats that the primitive asks for, where the way leaves them open. */
static void settle(dnnl_primitive_desc_t d, const kiln_problem *p, onednn_tensor t[ONEDNN_TENSORS])
{
    static const struct {
        dnnl_query_t query[ONEDNN_TENSORS];
        int argument[ONEDNN_TENSORS], written;
    } of[] = {
        [KILN_FORWARD] = {{dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_dst_md},
                          {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
                          ONEDNN_Y},
        [KILN_BACKWARD_DATA] = {{dnnl_query_diff_src_md, dnnl_query_weights_md,
                                 dnnl_query_diff_dst_md},
                                {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST},
                                ONEDNN_X},
        [KILN_BACKWARD_WEIGHTS] = {{dnnl_query_src_md, dnnl_query_diff_weights_md,
                                    dnnl_query_diff_dst_md},
                                   {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST},
                                   ONEDNN_W},
    };
    for (int i = ONEDNN_X; i <= ONEDNN_Y; i++) {
        t[i].desc = *dnnl_primitive_desc_query_md(d, of[p->direction].query[i], 0);
        t[i].argument = of[p->direction].argument[i];
        t[i].written = of[p->direction].written == i;
    }
}

bool onednn_describe(dnnl_primitive_desc_t *out, dnnl_engine_t engine, const kiln_problem *p,
                     const rules *r, const onednn_way *v, onednn_tensor t[ONEDNN_TENSORS])
{
    if (!describe(p, r, v, t) || make_descriptor(out, engine, p, v, t) != dnnl_success)
        return false;
    settle(*out, p, t);
    return true;
}

const char *onednn_format_name(const dnnl_memory_desc_t *d)
{
    static const struct {
        const char *name;
        dnnl_format_tag_t tag[ONEDNN_RANKS];
    } known[] = {{"NCHW", {dnnl_abc, dnnl_abcd, dnnl_abcde}},
                 {"NHWC", {dnnl_acb, dnnl_acdb, dnnl_acdeb}},
                 {"NCHW16c", {dnnl_aBc16b, dnnl_aBcd16b, dnnl_aBcde16b}},
                 {"NCHW8c", {dnnl_aBc8b, dnnl_aBcd8b, dnnl_aBcde8b}}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        dnnl_memory_desc_t like;
        if (dnnl_memory_desc_init_by_tag(&like, d->ndims, d->dims, d->data_type,
                                         known[i].tag[d->ndims - 2 - ONEDNN_FIRST_RANK]) ==
                dnnl_success &&
            dnnl_memory_desc_equal(&like, d))
            return known[i].name;
    }
    return "other";
}
