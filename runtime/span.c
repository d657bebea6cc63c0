/* Reads the clock for whoever listens to spans. */
#include "span.h"

#include <time.h>

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t kiln_span_begin(const kiln_logger *logger)
{
    return logger->span ? now() : 0;
}

void kiln_span_end(const kiln_logger *logger, int64_t begin, const char *what, const char *detail)
{
    if (logger->span && begin)
        logger->span(logger->user, what, detail, begin, now());
}
