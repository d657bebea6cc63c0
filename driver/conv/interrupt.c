/* Notices the signals that end a long job early. */
#include "interrupt.h"

static volatile sig_atomic_t came;

static const int numbers[INTERRUPTS] = {SIGINT, SIGTERM, SIGHUP};

static void on_signal(int number)
{
    (void)number;
    came = 1;
}

void interrupt_watch(interrupt *watch)
{
    const struct sigaction ours = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    came = 0;
    for (int i = 0; i < INTERRUPTS; i++) {
        sigaction(numbers[i], NULL, &watch->before[i]);
        /* nohup ignores SIGHUP, and that stays so. */
        if (numbers[i] != SIGHUP || watch->before[i].sa_handler != SIG_IGN)
            sigaction(numbers[i], &ours, NULL);
    }
}

void interrupt_leave(const interrupt *watch)
{
    for (int i = 0; i < INTERRUPTS; i++)
        sigaction(numbers[i], &watch->before[i], NULL);
}

bool interrupt_came(void)
{
    return came != 0;
}
