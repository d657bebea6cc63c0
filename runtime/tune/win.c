/* When a config that was faster than the guess in turns is believed to be so. */
#include "win.h"

#include <stdio.h>
#include <string.h>

enum { MOST_TURNS = 64 };

kiln_win kiln_win_of(const double *ms, const double *guess_ms, int turns)
{
    double ratio[MOST_TURNS];
    kiln_win win = {.turns = 0};
    for (int i = 0; i < turns && win.turns < MOST_TURNS; i++)
        if (ms[i] > 0 && guess_ms[i] > 0) {
            ratio[win.turns++] = ms[i] / guess_ms[i];
            win.won += ms[i] < guess_ms[i];
        }
    if (win.turns > 0)
        win.iqr = kiln_times_of(ratio, win.turns).iqr;
    return win;
}

bool kiln_row_is_guess(const kiln_row *row)
{
    const size_t length = strlen(row->config);
    const char *solver = row->guess + length;
    if (strncmp(row->guess, row->config, length) != 0)
        return false;
    if (length > 0) {
        if (strncmp(solver, " of ", 4) != 0)
            return false;
        solver += 4;
    }
    return strcmp(solver, row->solver) == 0;
}

/* A win within the spread may be luck: of several configs that are as fast as the guess, one is the
 * fastest in any few turns. */
int kiln_row_wins(const kiln_row *row, char *why)
{
    char text[KILN_ERROR_TEXT] = "";
    const double win = row && row->guess_ms > 0 ? 1 - row->ms / row->guess_ms : 0;
    if (!row)
        snprintf(text, sizeof text, "the row is NULL");
    else if (kiln_row_is_guess(row))
        snprintf(text, sizeof text, "its config is the guess, which needs no row");
    else if (row->turns <= 0 || row->ms <= 0 || row->guess_ms <= 0)
        snprintf(text, sizeof text, "it was not timed in turns with the guess");
    else if (row->turns < KILN_ROW_TURNS)
        snprintf(text, sizeof text, "it was timed in %d turns with the guess, not in %d",
                 row->turns, KILN_ROW_TURNS);
    else if (row->turns_won > row->turns)
        snprintf(text, sizeof text, "it says that it beat the guess in %d of %d turns",
                 row->turns_won, row->turns);
    else if (4LL * row->turns_won < 3LL * row->turns)
        snprintf(text, sizeof text,
                 "it beat the guess in %d of %d turns, not in three quarters of them",
                 row->turns_won, row->turns);
    else if (!(win > row->win_iqr))
        snprintf(text, sizeof text,
                 "its win over the guess, %.2g %%, is within the spread of %.2g %%", win * 100,
                 row->win_iqr * 100);
    if (why)
        snprintf(why, KILN_ERROR_TEXT, "%s", text);
    return !*text;
}
