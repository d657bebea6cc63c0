/* `kiln completion`: prints a shell's script, and answers what may stand at the cursor. */
#include "completion_command.h"

#include "driver/completion/completion_rows.h"
#include "driver/completion/completion_script.h"
#include "driver/completion/completion_values.h"
#include "kiln.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: kiln completion bash | zsh | fish\n"
    "\n"
    "Prints a script with which the shell completes words, flags and their values: layouts,\n"
    "solvers, types, activations, devices. The script asks kiln, so that it fits every version.\n"
    "An installed kiln has the scripts in the folders where the shells look for them; for a kiln\n"
    "in another place:\n"
    "\n"
    "  bash     source <(kiln completion bash)\n"
    "  zsh      source <(kiln completion zsh)\n"
    "  fish     kiln completion fish | source\n"
    "  --help   print this text\n";

int completion_command(int argc, char **argv)
{
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(help, stdout);
        return KILN_OK;
    }
    for (const completion_script *s = completion_scripts; argc == 2 && s->name; s++)
        if (strcmp(strchr(s->name, '.') + 1, argv[1]) == 0) {
            fputs(s->text, stdout);
            return KILN_OK;
        }
    fprintf(stderr, "kiln completion: %s%.60s; say bash, zsh or fish (--help explains)\n",
            argc < 2   ? "the shell is missing"
            : argc > 2 ? "only one shell is taken, not also "
                       : "unknown shell ",
            argc < 2 ? "" : argv[argc - 1]);
    return KILN_INVALID;
}

/* Returns what the word prints for --help, to be freed; NULL where no file can be made. */
static char *own_help(const driver_word *word)
{
    char *argv[] = {(char *)word->word, "--help", NULL}, *text = NULL;
    FILE *file = tmpfile();
    const int kept = dup(STDOUT_FILENO);
    if (file && kept >= 0 && fflush(stdout) == 0 && dup2(fileno(file), STDOUT_FILENO) >= 0) {
        word->run(2, argv);
        fflush(stdout);
        dup2(kept, STDOUT_FILENO);
        const off_t size = lseek(fileno(file), 0, SEEK_END);
        text = size < 0 ? NULL : calloc(1, (size_t)size + 1);
        if (text && pread(fileno(file), text, (size_t)size, 0) != size)
            *text = '\0';
    }
    if (kept >= 0)
        close(kept);
    if (file)
        fclose(file);
    return text;
}

/* The word at the cursor. */
typedef struct cursor {
    const char *word;
    size_t kept; /* how much of it stays as it is, before the value that is completed */
} cursor;

static void offer(void *user, const char *value, const char *about)
{
    const cursor *c = user;
    if (strncmp(value, c->word + c->kept, strlen(c->word + c->kept)) == 0)
        printf("%.*s%s\t%s\n", (int)c->kept, c->word, value, about);
}

static void offer_flags(cursor *c, const completion_rows *rows)
{
    char text[80];
    for (int i = 0; i < rows->count; i++)
        if (rows->row[i].flag) {
            snprintf(text, sizeof text, "--%s", rows->row[i].name);
            offer(c, text, rows->row[i].about);
        }
}

static const char *about_of(const completion_rows *rows, const char *word)
{
    const completion_row *row = completion_find(rows, word);
    return row ? row->about : "";
}

static void offer_words(cursor *c, const driver_word *words)
{
    static completion_rows rows;
    char *text = own_help(driver_word_find(words, "--help"));
    if (text)
        completion_add_help(&rows, text);
    for (const driver_word *w = words; w->word; w++)
        if (w->follow != WORD_ANY && (w->word[0] != '-' || c->word[0] == '-'))
            offer(c, w->word, about_of(&rows, w->word));
    free(text);
}

/* Offers what stands first behind the word, but flags. */
static void offer_first(cursor *c, const driver_word *words, const driver_word *word,
                        const completion_rows *rows)
{
    if (word->follow & WORD_WORD)
        offer_words(c, words);
    if (word->follow & WORD_TYPE)
        completion_type_words(offer, c);
    for (int i = 0; i < rows->count; i++)
        if (!rows->row[i].flag)
            offer(c, rows->row[i].name, rows->row[i].about);
}

/* Offers values of a flag; of a list, of which commas part the values, its last. */
static void offer_values(cursor *c, const completion_row *row)
{
    const char *comma = strrchr(c->word + c->kept, ',');
    if (comma && strcmp(row->what, "LIST") == 0)
        c->kept = (size_t)(comma + 1 - c->word);
    completion_values(row, offer, c);
}

/* Answers for the last of argv[0 .. argc - 1]; argv[0] is the word of the command. */
static void answer(const driver_word *words, const driver_word *word, const completion_rows *rows,
                   int argc, char **argv)
{
    cursor c = {.word = argv[argc - 1]};
    const char *before = argv[argc - 2], *equals = strchr(c.word, '=');
    const completion_row *row = NULL;
    if (strncmp(c.word, "--", 2) == 0 && equals) {
        c.kept = (size_t)(equals + 1 - c.word);
        row = completion_find(rows, c.word);
        if (row)
            offer_values(&c, row);
        return;
    }
    if (argc > 2 && !strchr(before, '=') && (argc == 3 || before[0] == '-'))
        row = completion_find(rows, before);
    if (row && *row->what)
        offer_values(&c, row);
    else {
        if (argc == 2)
            offer_first(&c, words, word, rows);
        if (c.word[0] == '-' || word->follow == WORD_FLAGS)
            offer_flags(&c, rows);
    }
}

int complete_command(const driver_word *words, int argc, char **argv)
{
    static completion_rows rows;
    if (argc <= 2) {
        offer_words(&(cursor){.word = argc < 2 ? "" : argv[1]}, words);
        return KILN_OK;
    }
    const driver_word *word = driver_word_find(words, argv[1]);
    if (!word)
        return KILN_OK;
    char *text = word->follow & WORD_OWN ? own_help(word) : NULL;
    if (text)
        completion_add_help(&rows, text);
    if (word->follow & WORD_FLAGS)
        completion_add_flags(&rows);
    answer(words, word, &rows, argc - 1, argv + 1);
    free(text);
    return KILN_OK;
}
