/* Values by their names, names to show of nodes, and the end of a reading that cannot go on. */
#include "walk.h"

#include <stdarg.h>
#include <stdio.h>

void walk_stop(walk *w, kiln_status status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(w->why, ONNX_WHY, format, list);
    va_end(list);
    longjmp(*w->end, (int)status);
}

value *scope_find(const scope *s, const char *name)
{
    value *v = NULL;
    for (; s && !v; s = s->outer)
        v = names_find(&s->values, name);
    return v;
}

const char *node_title(walk *w, const Onnx__NodeProto *node)
{
    if (*text_of(node->name))
        return arena_text(w->arena, "%.200s", node->name);
    return arena_text(w->arena, "%.80s of '%.100s'", text_of(node->op_type),
                      node->n_output ? text_of(node->output[0]) : "");
}
