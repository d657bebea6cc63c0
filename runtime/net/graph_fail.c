/* Errors that name the node of a graph. */
#include "runtime/base/error.h"

#include "graph.h"

#include <stdarg.h>
#include <stdio.h>

kiln_status kiln_graph_fail(const kiln_graph *g, int i, kiln_status status, const char *format, ...)
{
    char text[KILN_ERROR_TEXT];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return g->node[i].name ? kiln_fail(status, "node %d (%.60s): %s", i + 1, g->node[i].name, text)
                           : kiln_fail(status, "node %d: %s", i + 1, text);
}
