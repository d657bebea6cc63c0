/* Tells a model from a list of problems by its name. */
#include "onnx.h"

#include <string.h>
#include <strings.h>

bool onnx_is_name(const char *path)
{
    const size_t length = strlen(path);
    return length > 5 && strcasecmp(path + length - 5, ".onnx") == 0;
}
