/* Renews a line on the terminal: layers done, time taken, time left. */
#include "progress.h"
#include "stats.h"

#include <stdio.h>
#include <unistd.h>

enum { TIME_TEXT = 32 };

static const char *time_text(double seconds, char text[TIME_TEXT])
{
    const long s = (long)(seconds + 0.5);
    snprintf(text, TIME_TEXT, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    return text;
}

progress progress_start(int count)
{
    return (progress){.shown = isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO),
                      .start = stats_now(),
                      .count = count};
}

void progress_tell(const progress *p, int i)
{
    char so_far[TIME_TEXT], left[TIME_TEXT];
    const double taken = stats_now() - p->start;
    if (!p->shown)
        return;
    if (i == p->count)
        fprintf(stderr, "\r");
    else
        fprintf(stderr, "\rlayer %d of %d, %s so far", i + 1, p->count, time_text(taken, so_far));
    if (i > 0 && i < p->count)
        fprintf(stderr, ", about %s left", time_text(taken / i * (p->count - i), left));
    fputs("\033[K", stderr);
    fflush(stderr);
}
