/* A word of the command, and lists of them. */
#ifndef KILN_DRIVER_WORD_H
#define KILN_DRIVER_WORD_H

/* What may stand behind a word; 0: nothing. */
enum {
    WORD_FLAGS = 1, /* the flags of conv */
    WORD_OWN = 2,   /* flags or words of its own, with a --help of its own */
    WORD_TYPE = 4,  /* first a word for a type: conv, convfp16, ... */
    WORD_WORD = 8,  /* a word of this table */
    WORD_ANY = 16   /* anything; the word is for scripts, and not completed */
};

typedef struct driver_word {
    const char *word;
    int (*run)(int argc, char **argv); /* argv[0] is the word */
    int follow;                        /* WORD_ bits */
} driver_word;

/* Returns the row of a word in a list, which ends with a word that is NULL; NULL: there is none. */
const driver_word *driver_word_find(const driver_word *list, const char *word);

#endif
