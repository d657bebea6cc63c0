/* Fuzzes benchdnn's post-ops, and lines of --deconv. The first line of the input is the value of
 * --attr-post-ops, the second one a descriptor, and the third, when it is not empty, asks for a
 * bias.
 *
 * Where kiln takes the post-ops, its flags compute the values that oneDNN's do, one after the
 * other, in the arithmetic of this file. Where kiln takes the descriptor as a deconvolution, the
 * result has the sizes that the descriptor says. */
#include "driver/problem_list/problem_list.h"

#include "fuzz.h"

#include <math.h>

enum { LINE = FUZZ_MOST + 128 };

/* ---- oneDNN's way ---- */

typedef struct chain {
    double value, residual;
    bool known, tame; /* every post-op is known; numbers are of a usual size */
} chain;

static bool is_tame(double v)
{
    return v == 0 || (fabs(v) > 1e-3 && fabs(v) < 1e3);
}

/* Removes an ending that does not change a forward pass. */
static void cut(char *name, const char *ending)
{
    const size_t length = strlen(name), n = strlen(ending);
    if (length > n && strcmp(name + length - n, ending) == 0)
        name[length - n] = '\0';
}

/* The functions of one value; false: this file does not know the name. */
static bool apply(const char *name, double a, double b, double *v)
{
    const double x = *v;
    if (strcmp(name, "relu") == 0)
        *v = x > 0 ? x : a * x;
    else if (strcmp(name, "elu") == 0)
        *v = x > 0 ? x : a * expm1(x);
    else if (strcmp(name, "tanh") == 0)
        *v = tanh(x);
    else if (strcmp(name, "logistic") == 0)
        *v = 1 / (1 + exp(-x));
    else if (strcmp(name, "gelu_erf") == 0)
        *v = 0.5 * x * erfc(-x / sqrt(2));
    else if (strcmp(name, "swish") == 0)
        *v = x / (1 + exp(-a * x));
    else if (strcmp(name, "clip") == 0 || strcmp(name, "clip_v2") == 0)
        *v = x < a ? a : x > b ? b : x;
    else if (strcmp(name, "linear") == 0)
        *v = a * x + b;
    else
        return false;
    return true;
}

/* Applies "NAME:NUMBER:NUMBER...". */
static void apply_one(chain *c, char *text)
{
    double number[3] = {0, 0, 1};
    char *rest = text, *name = strsep(&rest, ":"), *word;
    const bool sum = strcmp(name, "sum") == 0;
    number[0] = sum;
    for (int i = 0; i < (sum ? 2 : 3) && (word = strsep(&rest, ":")); i++)
        number[i] = *word ? strtod(word, NULL) : number[i];
    c->tame = c->tame && is_tame(number[0]) && is_tame(number[1]);
    if (strncmp(name, "eltwise_", 8) == 0)
        name += 8;
    cut(name, "_use_dst_for_bwd");
    cut(name, "_dst");
    if (sum)
        c->value += number[0] * (c->residual - number[1]);
    else
        c->known = c->known && apply(name, number[0], number[1], &c->value) && number[2] == 1;
}

static chain by_onednn(const char *post_ops, double value, double residual)
{
    char copy[FUZZ_MOST + 1], *rest = copy, *word;
    chain c = {value, residual, true, true};
    snprintf(copy, sizeof copy, "%s", post_ops);
    while ((word = strsep(&rest, "+;'\"")))
        if (*word)
            apply_one(&c, word);
    return c;
}

/* ---- kiln's way ---- */

/* Returns the number behind a flag, or another where it is not given. */
static double flag_of(const char *flags, const char *name, double otherwise)
{
    const char *at = strstr(flags, name);
    return at ? strtod(at + strlen(name), NULL) : otherwise;
}

static double by_kiln(const char *flags, double product, double bias, double residual)
{
    static const char *const names[][2] = {{"relu", "relu"},        {"leaky_relu", "relu"},
                                           {"elu", "elu"},          {"tanh", "tanh"},
                                           {"sigmoid", "logistic"}, {"silu", "swish"},
                                           {"gelu", "gelu_erf"},    {"clipped_relu", "clip"}};
    const double a = flag_of(flags, " --act_alpha ", 0);
    const double beta = flag_of(flags, " --beta ", 0);
    double v = flag_of(flags, " --alpha ", 1) * product + beta * residual + bias;
    const char *at = strstr(flags, " --activation ");
    char name[16] = "";
    if (!at)
        return v;
    require(sscanf(at, " --activation %15s", name) == 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i][0]) == 0) {
            const bool clip = strcmp(name, "clipped_relu") == 0, silu = strcmp(name, "silu") == 0;
            require(apply(names[i][1], clip ? 0 : silu ? 1 : a, a, &v));
            return v;
        }
    require(!"an activation that this file knows");
    return 0;
}

static void check_values(const char *post_ops, const char *flags, bool bias)
{
    static const double products[] = {-2.5, -0.75, 0, 0.5, 3, 8};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        for (int residual = -1; residual <= 1; residual++) {
            const double b = bias ? 0.375 : 0;
            const chain c = by_onednn(post_ops, products[i] + b, residual);
            const double v = by_kiln(flags, products[i], b, residual);
            require(c.known);
            if (c.tame)
                require(fabs(v - c.value) <= 1e-5 * (fabs(v) + 1));
        }
}

/* ---- lines ---- */

static list_kind read_line(const char *driver, const char *post_ops, const char *descriptor,
                           bool bias, list_entry *entry)
{
    char line[LINE];
    list_reader reader = {0};
    snprintf(line, sizeof line, "%s --dir=%s%s%s %s", driver, bias ? "FWD_B" : "FWD_D",
             *post_ops ? " --attr-post-ops=" : "", post_ops, descriptor);
    const list_kind kind = list_read(&reader, line, entry);
    require(memchr(entry->flags, '\0', sizeof entry->flags) != NULL);
    if (kind == LIST_BAD)
        fuzz_check_why(entry->why, sizeof entry->why);
    return kind;
}

/* Returns the number behind a key that the descriptor has once, else 0. */
static long long size_of(const char *descriptor, const char *key)
{
    const char *at = strstr(descriptor, key);
    return at && !strstr(at + 1, key) ? atoll(at + strlen(key)) : 0;
}

/* The last axis is always w's, or h's where the descriptor has no w. */
static void check_sizes(const char *descriptor, const list_entry *e)
{
    kiln_problem p = e->problem;
    const int last = p.spatial_rank - 1;
    require(p.transposed == 1);
    require(kiln_problem_check(&p, NULL) == KILN_OK);
    if (strchr(descriptor, 'n'))
        return; /* a name may hold keys */
    const char *axis = strstr(descriptor, "iw") ? "ow" : strstr(descriptor, "ih") ? "oh" : "od";
    const long long out = size_of(descriptor, axis);
    if (out > 0)
        require(kiln_problem_output(&p, last) == out);
    if (size_of(descriptor, "ic") > 0)
        require(p.in_channels == size_of(descriptor, "ic"));
    if (size_of(descriptor, "oc") > 0)
        require(p.out_channels == size_of(descriptor, "oc"));
}

/* A line may be refused, but a harmless post-op and none at all are the same. */
static void check_plain(const char *descriptor, bool bias)
{
    list_entry none, one;
    const list_kind kind = read_line("--conv", "", descriptor, bias, &none);
    require(read_line("--conv", "linear:1", descriptor, bias, &one) == kind);
    require(strcmp(one.flags, none.flags) == 0);
    require(memcmp(&one.problem, &none.problem, sizeof one.problem) == 0);
    if (read_line("--deconv", "", descriptor, bias, &one) == LIST_SHAPE)
        check_sizes(descriptor, &one);
}

/* Whether nothing but the readers of post-ops and descriptors divides the text. */
static bool is_one_word(const char *text)
{
    return !strpbrk(text, " \t\r\v\f,\\|&<>()#$`") && !strstr(text, "benchdnn") &&
           !strstr(text, "MIOpenDriver") && !strstr(text, "_verbose") && !strstr(text, "__REPRO");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static fuzz_text room;
    static const char usual[] = "mb2ic16ih8oc8oh8kh3ph1";
    list_entry entry;
    if (size > FUZZ_MOST)
        return 0;
    char *text = fuzz_text_of(&room, data, size);
    const char *post_ops = fuzz_next_line(&text), *descriptor = fuzz_next_line(&text);
    const bool bias = *fuzz_next_line(&text);
    if (!is_one_word(post_ops) || !is_one_word(descriptor))
        return 0;
    if (*post_ops && read_line("--conv", post_ops, usual, bias, &entry) == LIST_SHAPE)
        check_values(post_ops, entry.flags, bias);
    if (*descriptor && *descriptor != '-')
        check_plain(descriptor, bias);
    return 0;
}
