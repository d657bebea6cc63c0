/* Notices the signals that end a long job early. */
#include "interrupt.h"

static volatile sig_atomic_t came;

static const int numbers[ENDS] = {SIGINT, SIGTERM, SIGHUP};

static void on_end(int number)
{
    (void)number;
    came = 1;
}

void ends_watch(ends *e)
{
    const struct sigaction ours = {.sa_handler = on_end, .sa_flags = (int)SA_RESETHAND};
    came = 0;
    for (int i = 0; i < ENDS; i++) {
        sigaction(numbers[i], NULL, &e->before[i]);
        /* nohup's SIGHUP stays ignored. */
        if (numbers[i] != SIGHUP || e->before[i].sa_handler != SIG_IGN)
            sigaction(numbers[i], &ours, NULL);
    }
}

void ends_leave(const ends *e)
{
    for (int i = 0; i < ENDS; i++)
        sigaction(numbers[i], &e->before[i], NULL);
}

bool ends_came(void)
{
    return came != 0;
}
