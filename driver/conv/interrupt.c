/* Notices the signals that end a long job early. */
#include "interrupt.h"

static volatile sig_atomic_t came;
static struct sigaction second[INTERRUPTS];

static const int numbers[INTERRUPTS] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static void on_signal(int number)
{
    came = 1;
    for (int i = 0; i < INTERRUPTS; i++)
        if (numbers[i] == number)
            sigaction(number, &second[i], NULL);
}

void interrupt_watch(interrupt *watch)
{
    const struct sigaction ours = {.sa_handler = on_signal};
    came = 0;
    for (int i = 0; i < INTERRUPTS; i++) {
        sigaction(numbers[i], NULL, &watch->before[i]);
        second[i] = watch->before[i];
        if (second[i].sa_handler == SIG_IGN) /* as a shell starts jobs in the background */
            second[i].sa_handler = SIG_DFL;
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
