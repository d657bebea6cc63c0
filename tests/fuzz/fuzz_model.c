/* Fuzzes ONNX models: a file is refused with a sentence, or each of its convolutions is a legal
 * problem or has a reason. */
#include "driver/onnx/onnx.h"

#include "fuzz.h"

/* What is shown of a model steers no terminal. */
static void check_text(const char *text)
{
    for (; *text; text++)
        require((unsigned char)*text >= ' ' && *text != 127);
}

static void check_layer(const onnx_layer *l)
{
    char text[KILN_KEY_TEXT];
    kiln_problem p = l->problem, again;
    check_text(l->name);
    check_text(l->why);
    check_text(l->note);
    check_text(l->epilogue);
    require(l->sized == (*l->why == '\0'));
    require(l->times >= 0);
    if (!l->sized)
        return;
    require(kiln_problem_check(&p, NULL) == KILN_OK);
    require(memcmp(&p, &l->problem, sizeof p) == 0);
    kiln_problem_text(&p, text, sizeof text);
    require(kiln_problem_parse(&again, text, NULL) == KILN_OK);
    require(memcmp(&again, &p, sizeof p) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const onnx_given given = {.dim = {"N=2"}, .dims = 1};
    char why[ONNX_WHY];
    onnx_model *m;
    /* First with a dim named, which few models have; then as the model is. */
    if (onnx_open_bytes(&m, data, size, ".", &given, why))
        fuzz_check_why(why, sizeof why);
    onnx_close(m);
    if (onnx_open_bytes(&m, data, size, ".", NULL, why)) {
        fuzz_check_why(why, sizeof why);
        check_text(why);
    }
    for (size_t i = 0; m && i < m->layers; i++)
        check_layer(&m->layer[i]);
    onnx_close(m);
    return 0;
}
