/* Keeps the keys of models' convolutions: a row knows no epilogue. */
#include "report_filter.h"

#include <stdlib.h>
#include <string.h>

static bool has_key(const report_filter *f, const char *key)
{
    for (size_t i = 0; i < f->keys; i++)
        if (strcmp(f->key[i], key) == 0)
            return true;
    return false;
}

static bool add_key(report_filter *f, const kiln_problem *p)
{
    char key[KILN_KEY_TEXT];
    kiln_problem_row_key(p, key, sizeof key);
    if (has_key(f, key))
        return true;
    if (f->keys == f->room) {
        const size_t room = f->room ? 2 * f->room : 64;
        char(*more)[KILN_KEY_TEXT] = realloc(f->key, room * sizeof *more);
        if (!more)
            return false;
        f->key = more;
        f->room = room;
    }
    memcpy(f->key[f->keys++], key, sizeof key);
    return true;
}

kiln_status report_filter_model(report_filter *f, const char *name, const onnx_given *given,
                                char *why)
{
    onnx_model *m;
    char sentence[ONNX_WHY];
    const kiln_status status = onnx_open(&m, name, given, sentence);
    if (status) {
        snprintf(why, KILN_ERROR_TEXT, "%.80s: %.170s", name, sentence);
        return status;
    }
    bool kept = true;
    for (size_t i = 0; i < m->layers && kept; i++)
        kept = !m->layer[i].sized || add_key(f, &m->layer[i].problem);
    onnx_close(m);
    f->models++;
    if (!kept)
        snprintf(why, KILN_ERROR_TEXT, "out of memory for the report");
    return kept ? KILN_OK : KILN_NO_MEMORY;
}

void report_filter_free(report_filter *f)
{
    free(f->key);
    *f = (report_filter){.match = ""};
}

bool report_filter_takes(const report_filter *f, const char *problem)
{
    kiln_problem p;
    char key[KILN_KEY_TEXT];
    if (*f->match && !strstr(problem, f->match))
        return false;
    if (f->models == 0)
        return true;
    if (kiln_problem_parse(&p, problem, NULL))
        return false;
    kiln_problem_row_key(&p, key, sizeof key);
    return has_key(f, key);
}
