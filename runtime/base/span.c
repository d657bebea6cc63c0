/* Reads the clock for whoever listens to spans. */
#include "span.h"

#include "clock.h"

int64_t kiln_span_begin(const kiln_logger *logger)
{
    return logger->span ? kiln_clock_ns() : 0;
}

void kiln_span_end(const kiln_logger *logger, int64_t begin, const char *what, const char *detail)
{
    if (logger->span && begin)
        logger->span(logger->user, what, detail, begin, kiln_clock_ns());
}
