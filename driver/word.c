/* Finds a word in a list. */
#include "word.h"

#include <stddef.h>
#include <string.h>

const driver_word *driver_word_find(const driver_word *list, const char *word)
{
    for (; list->word; list++)
        if (strcmp(list->word, word) == 0)
            return list;
    return NULL;
}
