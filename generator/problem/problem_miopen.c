/* MIOpen's database keys, so that its tuning records and logs can name kiln's problems.
 *
 *     C-H-W-RxS-K-P-Q-N-pHxpW-sHxsW-dHxdW-BIAS-LAYOUT-TYPE-DIRECTION[_gGROUPS]
 *
 * With three axes, D stands before H in every block. For directions B and W the two tensor blocks
 * are exchanged: the key starts with the forward output. LAYOUT is one word when all three tensors
 * are NCHW (NCDHW), else three, in the order of the blocks; so are TYPEs, without separators.
 * Format as in MIOpen's ProblemDescription::Serialize (src/problem_description.cpp).
 */
#include "generator/base/text.h"
#include "generator/base/types.h"

#include "problem_quant.h"
#include "problem_text.h"

#include <string.h>

static const struct {
    const char *key, *data, *filter;
    int rank;
} layouts[] = {
    {"NCHW", "NCHW", "OIHW", 2},
    {"NHWC", "NHWC", "OHWI", 2},
    {"NCDHW", "NCDHW", "OIDHW", 3},
    {"NDHWC", "NDHWC", "ODHWI", 3},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static const char direction_keys[] = {'F', 'B', 'W'};

/* The three tensors in the order of the key. */
typedef struct blocks {
    int layout[3]; /* indices into layouts[] */
    kiln_type type[3];
    int64_t channels[2], size[2][KILN_MAX_RANK];
} blocks;

static int find_layout(const char *text, bool filter, int rank)
{
    for (int i = 0; i < LAYOUTS; i++)
        if (layouts[i].rank == rank &&
            strcmp(text, filter ? layouts[i].filter : layouts[i].data) == 0)
            return i;
    return -1;
}

static bool fill_blocks(const kiln_problem *p, blocks *b)
{
    bool forward = p->direction == KILN_FORWARD;
    int x = forward ? 0 : 1, y = forward ? 1 : 0;
    b->channels[x] = p->in_channels;
    b->channels[y] = p->out_channels;
    for (int i = 0; i < p->spatial_rank; i++) {
        b->size[x][i] = p->input[i];
        b->size[y][i] = kiln_problem_output(p, i);
    }
    b->layout[x ? 2 : 0] = find_layout(p->x_layout, false, p->spatial_rank);
    b->layout[1] = find_layout(p->w_layout, true, p->spatial_rank);
    b->layout[y ? 2 : 0] = find_layout(p->y_layout, false, p->spatial_rank);
    b->type[x ? 2 : 0] = p->x_type;
    b->type[1] = p->w_type;
    b->type[y ? 2 : 0] = p->y_type;
    for (int i = 0; i < 3; i++)
        if (b->layout[i] < 0 || !kiln_type_facts(b->type[i])->miopen)
            return false;
    return true;
}

/* MIOpen's key has no word for transposed convolutions, unequal padding, or an epilogue beyond the
 * bias. The keys that MIOpen writes for transposed ones are those of the mirrored problem, which is
 * another problem. */
static bool has_key(const kiln_problem *p)
{
    const kiln_epilogue *e = &p->epilogue;
    bool same = memcmp(p->pad_begin, p->pad_end, sizeof p->pad_begin) == 0;
    return p->spatial_rank >= 2 && !p->transposed && same && e->alpha == 1 && e->beta == 0 &&
           e->activation == KILN_IDENTITY && !kiln_quant_is_used(p) &&
           (!e->bias || e->bias == KILN_F32) && strcmp(p->bias_layout, kiln_plain_bias_layout) == 0;
}

static void put_sizes(kiln_sink *s, const int64_t *size, int rank, char separator)
{
    kiln_put(s, "-");
    kiln_put_list(s, size, rank, separator);
}

size_t kiln_problem_miopen_key(const kiln_problem *p, char *text, size_t size)
{
    kiln_sink s = kiln_sink_open(text, size);
    blocks b;
    if (!kiln_problem_is_complete(p) || !has_key(p) || !fill_blocks(p, &b))
        return 0;
    const int rank = p->spatial_rank;
    kiln_put_int(&s, b.channels[0]);
    put_sizes(&s, b.size[0], rank, '-');
    put_sizes(&s, p->filter, rank, 'x');
    put_sizes(&s, &b.channels[1], 1, '-');
    put_sizes(&s, b.size[1], rank, '-');
    put_sizes(&s, &p->batch, 1, '-');
    put_sizes(&s, p->pad_begin, rank, 'x');
    put_sizes(&s, p->stride, rank, 'x');
    put_sizes(&s, p->dilation, rank, 'x');
    kiln_put(&s, p->epilogue.bias ? "-1" : "-0");
    bool plain = strcmp(layouts[b.layout[0]].filter, kiln_plain_filter_layout(rank)) == 0 &&
                 b.layout[0] == b.layout[1] && b.layout[0] == b.layout[2];
    for (int i = 0; i < (plain ? 1 : 3); i++) {
        kiln_put(&s, "-");
        kiln_put(&s, layouts[b.layout[i]].key);
    }
    kiln_put(&s, "-");
    bool one = b.type[0] == b.type[1] && b.type[0] == b.type[2];
    for (int i = 0; i < (one ? 1 : 3); i++)
        kiln_put(&s, kiln_type_facts(b.type[i])->miopen);
    const char direction[] = {'-', direction_keys[p->direction], '\0'};
    kiln_put(&s, direction);
    if (p->groups > 1) {
        kiln_put(&s, "_g");
        kiln_put_int(&s, p->groups);
    }
    return s.length;
}

typedef struct reader {
    kiln_problem p;
    blocks b;
    const char *at;
    char *why;
} reader;

static kiln_status expected(const reader *r, const char *what)
{
    char quote[48];
    kiln_quote(r->at, "", quote, sizeof quote);
    return kiln_refuse(r->why, "MIOpen key: expected %s at \"%s\"", what, quote);
}

/* The first block has C and the sizes; R of RxS follows. The count of numbers up to there tells the
 * rank. */
static kiln_status read_rank(reader *r)
{
    int64_t ahead[KILN_MAX_RANK + 2];
    const char *p = r->at;
    r->p.spatial_rank = kiln_scan_list(&p, ahead, KILN_MAX_RANK + 2, '-') - 2;
    if (*p != 'x' || r->p.spatial_rank < 2)
        return expected(r, "C-H-W-RxS or C-D-H-W-TxRxS");
    return KILN_OK;
}

/* `count` numbers between separators, then a '-'. */
static bool scan_sizes(reader *r, int64_t *size, int count, char separator)
{
    const char *p = r->at;
    if (kiln_scan_list(&p, size, count, separator) != count || *p != '-')
        return false;
    r->at = p + 1;
    return true;
}

static kiln_status read_sizes(reader *r)
{
    kiln_problem *p = &r->p;
    const int rank = p->spatial_rank;
    int64_t bias;
    const struct {
        const char *what;
        int64_t *size;
        int count;
        char separator;
    } sizes[] = {
        {"the channels of the first tensor", &r->b.channels[0], 1, '-'},
        {"the sizes of the first tensor", r->b.size[0], rank, '-'},
        {"the filter's sizes", p->filter, rank, 'x'},
        {"the channels of the second tensor", &r->b.channels[1], 1, '-'},
        {"the sizes of the second tensor", r->b.size[1], rank, '-'},
        {"the batch", &p->batch, 1, '-'},
        {"the padding", p->pad_begin, rank, 'x'},
        {"the stride", p->stride, rank, 'x'},
        {"the dilation", p->dilation, rank, 'x'},
        {"0 or 1 for the bias", &bias, 1, '-'},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (!scan_sizes(r, sizes[i].size, sizes[i].count, sizes[i].separator))
            return expected(r, sizes[i].what);
    for (int i = 0; i < rank; i++)
        if (p->stride[i] == 0 || p->dilation[i] == 0)
            return kiln_refuse(r->why, "MIOpen key: a stride or dilation is 0; the least is 1");
    if (bias > 1)
        return kiln_refuse(r->why, "MIOpen key: bias is %lld; it must be 0 or 1", (long long)bias);
    p->epilogue.bias = (int)bias;
    memcpy(p->pad_end, p->pad_begin, sizeof p->pad_end);
    return KILN_OK;
}

static bool scan_layout(reader *r, int *layout)
{
    for (int i = 0; i < LAYOUTS; i++) {
        const char *p = r->at;
        if (layouts[i].rank == r->p.spatial_rank && kiln_scan(&p, layouts[i].key) &&
            kiln_scan(&p, "-")) {
            *layout = i;
            r->at = p;
            return true;
        }
    }
    return false;
}

static kiln_status read_layouts(reader *r)
{
    int *l = r->b.layout;
    if (!scan_layout(r, &l[0]))
        return expected(r, "a layout that fits the rank (NCHW, NHWC, NCDHW or NDHWC)");
    l[1] = l[2] = l[0];
    if (scan_layout(r, &l[1]) && !scan_layout(r, &l[2]))
        return expected(r, "one layout or three");
    return KILN_OK;
}

static bool scan_type(reader *r, kiln_type *type)
{
    for (int t = KILN_TYPE_DEFAULT + 1; t < KILN_TYPES; t++) {
        const char *key = kiln_type_facts((kiln_type)t)->miopen;
        if (key && kiln_scan(&r->at, key)) {
            *type = (kiln_type)t;
            return true;
        }
    }
    return false;
}

static kiln_status read_types(reader *r)
{
    kiln_type *t = r->b.type;
    if (!scan_type(r, &t[0]))
        return expected(r, "a type (FP32, FP16, BF16, INT8 or INT32)");
    t[1] = t[2] = t[0];
    if (scan_type(r, &t[1]) && !scan_type(r, &t[2]))
        return expected(r, "one type or three");
    return kiln_scan(&r->at, "-") ? KILN_OK : expected(r, "- behind the type");
}

static kiln_status read_direction(reader *r)
{
    int d = 0;
    while (d < 3 && *r->at != direction_keys[d])
        d++;
    if (d == 3)
        return expected(r, "the direction (F, B or W)");
    r->at++;
    r->p.direction = (kiln_direction)d;
    r->p.groups = 1;
    if (kiln_scan(&r->at, "_g") && (!kiln_scan_int(&r->at, &r->p.groups) || r->p.groups == 0))
        return expected(r, "the number of groups");
    return *r->at ? expected(r, "the end") : KILN_OK;
}

/* Gives the key's blocks to x, w and y. */
static void place_blocks(reader *r)
{
    kiln_problem *p = &r->p;
    const blocks *b = &r->b;
    int x = p->direction == KILN_FORWARD ? 0 : 1, tx = 2 * x, ty = 2 - tx;
    p->in_channels = b->channels[x];
    p->out_channels = b->channels[1 - x];
    memcpy(p->input, b->size[x], sizeof p->input);
    p->x_type = b->type[tx];
    p->w_type = b->type[1];
    p->y_type = b->type[ty];
    strcpy(p->x_layout, layouts[b->layout[tx]].data);
    strcpy(p->w_layout, layouts[b->layout[1]].filter);
    strcpy(p->y_layout, layouts[b->layout[ty]].data);
}

static kiln_status check_output(const reader *r)
{
    const int64_t *claimed = r->b.size[r->p.direction == KILN_FORWARD ? 1 : 0];
    for (int i = 0; i < r->p.spatial_rank; i++)
        if (claimed[i] != kiln_problem_output(&r->p, i))
            return kiln_refuse(r->why,
                               "MIOpen key: the output's size %d is %lld, but the other sizes "
                               "make it %lld",
                               i + 1, (long long)claimed[i],
                               (long long)kiln_problem_output(&r->p, i));
    return KILN_OK;
}

kiln_status kiln_miopen_key_parse(kiln_problem *problem, const char *key, char *why)
{
    reader r = {.at = key, .why = why};
    kiln_status status;
    if ((status = read_rank(&r)) || (status = read_sizes(&r)) || (status = read_layouts(&r)) ||
        (status = read_types(&r)) || (status = read_direction(&r)))
        return status;
    place_blocks(&r);
    if ((status = kiln_problem_check(&r.p, why)) || (status = check_output(&r)))
        return status;
    *problem = r.p;
    return KILN_OK;
}
