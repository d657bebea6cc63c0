/* Opens models that tests wrote. */
#include "onnx_cases.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With KILN_ONNX_KEEP=FOLDER, models become files there: inputs for the fuzzer, or for other
 * readers.
 */
static void keep(const onnx_writer *w)
{
    static int count;
    char name[400];
    const char *folder = getenv("KILN_ONNX_KEEP");
    if (!folder)
        return;
    snprintf(name, sizeof name, "%s/%s-%d.onnx", folder, program_invocation_short_name, count++);
    FILE *file = fopen(name, "wb");
    ck_assert_ptr_nonnull(file);
    fwrite(w->bytes, 1, w->size, file);
    fclose(file);
}

onnx_model *onnx_read_written(onnx_writer *w, const onnx_given *given, kiln_status *status,
                              char why[ONNX_WHY])
{
    onnx_model *m;
    keep(w);
    *status = onnx_open_bytes(&m, w->bytes, w->size, ".", given, why);
    onnx_free(w);
    ck_assert((m == NULL) == (*status != KILN_OK));
    ck_assert((*why == '\0') == (*status == KILN_OK));
    return m;
}

void onnx_expect(onnx_writer *w, const char *problems)
{
    char why[ONNX_WHY], text[4096] = "", key[KILN_KEY_TEXT];
    kiln_status status;
    onnx_end(w);
    onnx_model *m = onnx_read_written(w, NULL, &status, why);
    ck_assert_msg(m != NULL, "%s", why);
    for (size_t i = 0; i < m->layers; i++) {
        const onnx_layer *l = &m->layer[i];
        ck_assert((*l->why == '\0') == l->sized);
        snprintf(key, sizeof key, "!");
        if (l->sized)
            kiln_problem_text(&l->problem, key, sizeof key);
        const size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s%s", n ? " " : "", key);
        if (!l->sized && !strchr(problems, '!'))
            ck_abort_msg("%s", l->why);
    }
    ck_assert_str_eq(text, problems);
    onnx_close(m);
}

void onnx_expect_refusal(onnx_writer *w, kiln_status expected, const char *text)
{
    char why[ONNX_WHY];
    kiln_status status;
    onnx_end(w);
    onnx_model *m = onnx_read_written(w, NULL, &status, why);
    ck_assert_msg(m == NULL, "the model was read");
    ck_assert_int_eq(status, expected);
    ck_assert_msg(strstr(why, text) != NULL, "%s", why);
}
