/* A locale whose numbers have a decimal comma. */
#ifndef COMMA_H
#define COMMA_H

#include <stdbool.h>

/* Sets such a locale for the process: one that is installed, else one that localedef makes. Returns
 * false, and says so, where there is neither. */
bool comma_locale(void);

#endif
