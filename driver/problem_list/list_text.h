/* What the readers of problem lists share: words, numbers, names and complaints. */
#ifndef KILN_LIST_TEXT_H
#define KILN_LIST_TEXT_H

#include "problem_list.h"

/* Part of a line. */
typedef struct list_word {
    const char *at;
    size_t length;
} list_word;

/* Returns the next word between blanks and moves *at past it; length 0 at the end of the line. */
list_word list_next_word(const char **at);
bool list_word_is(list_word word, const char *text);
/* Returns true where the word is the program's name, alone or at the end of a path. */
bool list_is_program(list_word word, const char *program);
/* Takes a prefix off a word. Returns false where the word has another one. */
bool list_take_prefix(list_word *word, const char *prefix);
/* Takes the part before a letter off a word, and the letter; all of the word where it has none. */
list_word list_take_part(list_word *word, char letter);
/* Returns true when only blanks or a comment are left. */
bool list_at_end(const char *at);

/* Copies a word so that it is safe to print: cut to fit, with '?' for bytes that are not printable
 * ASCII. */
void list_copy_printable(list_word word, char *text, size_t size);

/* The same as a value. */
typedef struct list_quoted {
    char text[LIST_QUOTE];
} list_quoted;
list_quoted list_quote(list_word word);

/* Reads decimal digits up to INT64_MAX and moves *at past them. */
bool list_scan_int(const char **at, int64_t *value);

/* Sets entry->why and returns LIST_BAD. */
list_kind list_bad(list_entry *entry, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sets the entry's name and repeat: "res2a*4" is the layer res2a, four times. */
void list_take_name(list_word word, list_entry *entry);

#endif
