/* The words of the command: one table. */
#ifndef KILN_DRIVER_WORDS_H
#define KILN_DRIVER_WORDS_H

#include "word.h"

/* Returns the row of a word; NULL: there is none, and the user has been told. */
const driver_word *driver_word_wanted(const char *word);

#endif
