/* `kiln layout show`: prints one layout, with sizes or without. */
#include "driver/base/json_csv.h"

#include "layout_words.h"

#include <ctype.h>
#include <string.h>

enum { SHOWN_LINES = 24 };

static void put_lower(FILE *to, char letter)
{
    fputc(tolower((unsigned char)letter), to);
}

static const kiln_layout_entry *entry_of(const kiln_layout *l)
{
    const kiln_layout_entry *e;
    for (int i = 0; (e = kiln_layout_at(i)); i++)
        if (strcmp(e->name, l->name) == 0)
            return e;
    return NULL;
}

/* A layout with sizes, and what to tell about it. */
typedef struct subject {
    kiln_storage storage;
    kiln_type type;
    const char *profile; /* NULL: none */
    bool accepted;
    char refusal[KILN_ERROR_TEXT];
} subject;

static void print_expression(const kiln_storage *s, const char *label, char part)
{
    char text[KILN_EXPRESSION_TEXT];
    kiln_storage_expression(s, part, text, sizeof text);
    printf("%-9s %s\n", label, text);
}

static void print_inverse(const kiln_storage *s)
{
    char text[KILN_EXPRESSION_TEXT];
    printf("element  ");
    for (int d = 0; d < s->layout.ndims; d++) {
        kiln_storage_inverse(s, d, text, sizeof text);
        fputs(d ? ", " : " ", stdout);
        put_lower(stdout, s->layout.dims[d]);
        printf(" = %s", text);
    }
    printf("\n");
}

static void print_place(const kiln_storage *s)
{
    printf("storage   ");
    for (int a = 0; a < s->layout.naxes; a++)
        printf("[%lld]", (long long)s->extent[a]);
    printf("\n");
    if (s->layout.image) {
        printf("image     %lld x %lld pixels\n", (long long)s->width, (long long)s->height);
        print_expression(s, "x", 'x');
        print_expression(s, "y", 'y');
        print_expression(s, "lane", 'l');
    } else {
        print_expression(s, "offset", 'o');
    }
    print_inverse(s);
    printf("strides  ");
    for (int d = 0; d < s->layout.ndims; d++) {
        int64_t stride = kiln_storage_stride(s, d);
        printf(" %c ", s->layout.dims[d]);
        if (stride < 0)
            printf("none");
        else
            printf("%lld", (long long)stride);
    }
    printf("\n");
}

static void print_subject(const subject *t)
{
    const kiln_storage *s = &t->storage;
    int64_t padding = s->cells - layout_count(s);
    printf("sizes     ");
    layout_print_sizes(stdout, s);
    printf(", %s\n", kiln_type_name(t->type));
    print_place(s);
    printf("cells     %lld, %lld of them padding\n", (long long)s->cells, (long long)padding);
    printf("bytes     %lld\n", (long long)(s->cells * (int64_t)kiln_type_size(t->type)));
    if (t->profile)
        printf("profile   %s %s%s\n", t->profile,
               t->accepted ? "takes it" : "does not take it: ", t->refusal);
    printf("\nIn the order of storage; the number is the element's place in %s order, a dot is "
           "padding:\n",
           s->layout.dims);
    layout_print_picture(stdout, s, "  ", SHOWN_LINES);
}

static void json_text(const char *name, const char *value)
{
    printf(",\"%s\":", name);
    json_string(stdout, value);
}

static void json_number(const char *name, int64_t value)
{
    printf(",\"%s\":%lld", name, (long long)value);
}

static void json_list(const char *name, const int64_t *value, int count)
{
    printf(",\"%s\":[", name);
    for (int i = 0; i < count; i++)
        printf("%s%lld", i ? "," : "", (long long)value[i]);
    printf("]");
}

static void json_expression(const kiln_storage *s, const char *name, char part)
{
    char text[KILN_EXPRESSION_TEXT];
    kiln_storage_expression(s, part, text, sizeof text);
    json_text(name, text);
}

static void json_by_dim(const kiln_storage *s)
{
    char text[KILN_EXPRESSION_TEXT];
    printf(",\"strides\":[");
    for (int d = 0; d < s->layout.ndims; d++) {
        int64_t stride = kiln_storage_stride(s, d);
        printf(d ? "," : "");
        if (stride < 0)
            printf("null"); /* a blocked dim has no single stride */
        else
            printf("%lld", (long long)stride);
    }
    printf("],\"element\":[");
    for (int d = 0; d < s->layout.ndims; d++) {
        kiln_storage_inverse(s, d, text, sizeof text);
        printf(d ? "," : "");
        json_string(stdout, text);
    }
    printf("]");
}

static void print_json(const subject *t)
{
    const kiln_storage *s = &t->storage;
    const int64_t image[2] = {s->width, s->height};
    printf("{\"layout\":");
    json_string(stdout, s->layout.name);
    json_text("spec", s->layout.spec);
    json_text("order", s->layout.dims);
    json_list("dims", s->dim, s->layout.ndims);
    json_text("type", kiln_type_name(t->type));
    json_text("kind", s->layout.image ? "image" : "buffer");
    json_list("storage_dims", s->extent, s->layout.naxes);
    json_number("cells", s->cells);
    json_number("padding", s->cells - layout_count(s));
    json_number("bytes", s->cells * (int64_t)kiln_type_size(t->type));
    json_by_dim(s);
    if (s->layout.image) {
        json_list("image", image, 2);
        json_expression(s, "x", 'x');
        json_expression(s, "y", 'y');
        json_expression(s, "lane", 'l');
    } else {
        json_expression(s, "offset", 'o');
    }
    if (t->profile) {
        json_text("profile", t->profile);
        printf(",\"accepted\":%s", t->accepted ? "true" : "false");
        json_text("reason", t->refusal);
    }
    printf("}\n");
}

static void print_layout(const kiln_layout *l)
{
    const kiln_layout_entry *e = entry_of(l);
    printf("layout    %s", l->name);
    if (strcmp(l->name, l->spec) != 0)
        printf(", spelt out %s", l->spec);
    printf(", of %s\n", l->dims);
    if (e)
        printf("what      %s\n", e->note);
    if (e && *e->synonyms)
        printf("also      %s\n", e->synonyms);
}

static bool is_profile(const char *name)
{
    const char *known;
    for (int i = 0; (known = kiln_profile_name(i)); i++)
        if (strcmp(known, name) == 0)
            return true;
    return false;
}

kiln_status layout_show(const layout_request *r, char *why)
{
    kiln_layout l;
    subject t = {.type = r->type, .profile = r->profile, .accepted = true};
    if (!kiln_layout_parse(&l, r->name[0], r->order, why))
        return KILN_INVALID;
    if (r->profile && !is_profile(r->profile)) {
        snprintf(why, KILN_ERROR_TEXT, "--profile is '%.40s', not tensorrt, dla or cudnn",
                 r->profile);
        return KILN_INVALID;
    }
    if (!r->sizes && (r->json || r->profile)) {
        snprintf(why, KILN_ERROR_TEXT, "--json and --profile need --dims, the sizes of %s", l.dims);
        return KILN_INVALID;
    }
    if (!r->sizes) {
        print_layout(&l);
        layout_print_formula(stdout, &l, "          ");
        return KILN_OK;
    }
    if (!layout_check_sizes(r, &l, why) ||
        !kiln_storage_make(&t.storage, &l, r->size, r->type, why))
        return KILN_INVALID;
    if (r->profile)
        t.accepted = kiln_profile_accepts(r->profile, &t.storage, r->type, t.refusal);
    if (r->json) {
        print_json(&t);
    } else {
        print_layout(&l);
        print_subject(&t);
    }
    if (!t.accepted)
        snprintf(why, KILN_ERROR_TEXT, "%s", t.refusal);
    return t.accepted ? KILN_OK : KILN_UNSUPPORTED;
}
