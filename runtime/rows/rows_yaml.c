/* Walks libyaml's events over one small mapping, without trusting it. */
#include "rows_yaml.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <yaml.h>

enum { MAX_DEPTH = 16 };

typedef struct walk {
    yaml_parser_t parser;
    yaml_event_t event; /* the current event */
    char *why;
} walk;

static bool no(walk *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool no(walk *w, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(w->why, KILN_FIELD_WHY, format, list);
    va_end(list);
    return false;
}

static bool anchored(const yaml_event_t *e)
{
    return e->type == YAML_ALIAS_EVENT || (e->type == YAML_SCALAR_EVENT && e->data.scalar.anchor) ||
           (e->type == YAML_SEQUENCE_START_EVENT && e->data.sequence_start.anchor) ||
           (e->type == YAML_MAPPING_START_EVENT && e->data.mapping_start.anchor);
}

static bool next(walk *w)
{
    yaml_event_delete(&w->event);
    if (!yaml_parser_parse(&w->parser, &w->event))
        return no(w, "%s", w->parser.problem ? w->parser.problem : "not YAML");
    if (anchored(&w->event))
        return no(w, "anchors and aliases are not allowed here");
    return true;
}

static bool expect(walk *w, yaml_event_type_t type, const char *what)
{
    return next(w) && (w->event.type == type || no(w, "%s expected", what));
}

/* Skips a value: the parser stands on its first event before and on its last event after. */
static bool skip_value(walk *w)
{
    int depth = 0;
    for (;;) {
        yaml_event_type_t type = w->event.type;
        depth += type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT;
        depth -= type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT;
        if (depth > MAX_DEPTH)
            return no(w, "nested more than %d deep", MAX_DEPTH);
        if (depth == 0)
            return true;
        if (!next(w))
            return false;
    }
}

static bool store(walk *w, const kiln_field *f, void *out)
{
    if (w->event.type != YAML_SCALAR_EVENT)
        return no(w, "%s is not a single value", f->name);
    return kiln_field_store(f, (const char *)w->event.data.scalar.value,
                            w->event.data.scalar.length, out, w->why);
}

/* Reads a mapping: the parser stands on its start before and on its end after. */
static bool read_mapping(walk *w, const kiln_field *fields, int nfields, void *out)
{
    uint64_t seen = 0;
    for (;;) {
        if (!next(w))
            return false;
        if (w->event.type == YAML_MAPPING_END_EVENT)
            break;
        if (w->event.type != YAML_SCALAR_EVENT)
            return no(w, "a field's name is not a single word");
        int which = kiln_field_named(fields, nfields, (const char *)w->event.data.scalar.value,
                                     w->event.data.scalar.length);
        if (!next(w))
            return false;
        if (which >= 0 && seen >> which & 1)
            return no(w, "%s is given twice", fields[which].name);
        if (which >= 0)
            seen |= UINT64_C(1) << which;
        if (which >= 0 ? !store(w, &fields[which], out) : !skip_value(w))
            return false;
    }
    for (int i = 0; i < nfields; i++)
        if (fields[i].required && !(seen >> i & 1))
            return no(w, "it has no %s", fields[i].name);
    return true;
}

static bool read_document(walk *w, bool item, const kiln_field *fields, int nfields, void *out)
{
    return expect(w, YAML_STREAM_START_EVENT, "text") &&
           expect(w, YAML_DOCUMENT_START_EVENT, "a mapping") &&
           (!item || expect(w, YAML_SEQUENCE_START_EVENT, "\"- {\"")) &&
           expect(w, YAML_MAPPING_START_EVENT, "a mapping \"{name: value, ...}\"") &&
           read_mapping(w, fields, nfields, out) &&
           (!item || expect(w, YAML_SEQUENCE_END_EVENT, "the end of the row")) &&
           expect(w, YAML_DOCUMENT_END_EVENT, "the end of the text") &&
           expect(w, YAML_STREAM_END_EVENT, "the end of the text");
}

bool kiln_yaml_read(const char *text, size_t length, bool item, const kiln_field *fields,
                    int nfields, void *out, char why[KILN_FIELD_WHY])
{
    walk w = {.why = why};
    if (!yaml_parser_initialize(&w.parser))
        return no(&w, "out of memory");
    yaml_parser_set_encoding(&w.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&w.parser, (const unsigned char *)text, length);
    bool ok = read_document(&w, item, fields, nfields, out);
    yaml_event_delete(&w.event);
    yaml_parser_delete(&w.parser);
    return ok;
}
