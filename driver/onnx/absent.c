/* In the place of the reader, where kiln is built without it (KILN_ONNX=OFF). */
#include "onnx.h"

const char *onnx_demo_name(int i)
{
    (void)i;
    return NULL;
}

kiln_status onnx_demo_write(int i, FILE *to)
{
    (void)i;
    (void)to;
    return KILN_UNSUPPORTED;
}

kiln_status onnx_open(onnx_model **model, const char *path, const onnx_given *given, char *why)
{
    (void)path;
    (void)given;
    *model = NULL;
    snprintf(why, ONNX_WHY,
             "this kiln was built without the reader of ONNX models; configure with KILN_ONNX=ON "
             "and the packages libonnx-dev, protobuf-c-compiler and libprotobuf-c-dev");
    return KILN_UNSUPPORTED;
}

void onnx_close(onnx_model *model)
{
    (void)model;
}
