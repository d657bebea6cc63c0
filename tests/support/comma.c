/* Finds or makes a locale with a decimal comma. */
#include "comma.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_comma(const char *name)
{
    return setlocale(LC_ALL, name) && strcmp(localeconv()->decimal_point, ",") == 0;
}

bool comma_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "nl_NL.UTF-8", "de_DE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (has_comma(names[i]))
            return true;
    char folder[] = "/tmp/kiln-locale-XXXXXX", command[256];
    bool made = false;
    if (mkdtemp(folder)) {
        snprintf(command, sizeof command,
                 "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
        (void)!system(command);
        setenv("LOCPATH", folder, 1);
        made = has_comma("de_DE.UTF-8");
        unsetenv("LOCPATH");
        snprintf(command, sizeof command, "rm -rf %s", folder);
        (void)!system(command);
    }
    if (!made)
        fprintf(stderr, "no locale with a decimal comma, and localedef makes none: not tested\n");
    return made;
}
