/* The values that a flag or word may be followed by, from the tables of the library. */
#ifndef KILN_COMPLETION_VALUES_H
#define KILN_COMPLETION_VALUES_H

#include "completion_rows.h"

/* Takes one value and a few words about it. */
typedef void completion_offer(void *user, const char *value, const char *about);

/* Offers the values of the row; none where these are numbers, files or free text. */
void completion_values(const completion_row *row, completion_offer *offer, void *user);

/* Offers conv and the words of other types. */
void completion_type_words(completion_offer *offer, void *user);

#endif
