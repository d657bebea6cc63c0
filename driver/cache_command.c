/* `kiln cache`: lists or empties the program cache. */
#include "cache_command.h"

#include "driver/base/number_text.h"
#include "kiln.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { EXIT_OK = 0, EXIT_USAGE = 2 };
enum { DEVICE_SHOWN = 32, TEMPLATE_SHOWN = 24, OPTIONS_SHOWN = 60 };

static const char help[] =
    "usage: kiln cache show | clear\n"
    "\n"
    "The program cache keeps compiled kernels between runs. It can be deleted at any time.\n"
    "\n"
    "  show     list the programs, the most recently used first: size, last use, device,\n"
    "           template, compile options\n"
    "  clear    remove all programs\n"
    "  --help   print this text\n"
    "\n"
    "Environment:\n"
    "  KILN_CACHE_DIR     directory of the cache; default $XDG_CACHE_HOME/kiln, else\n"
    "                     ~/.cache/kiln\n"
    "  KILN_CACHE_LIMIT   largest size in bytes; default 256 MiB; the least recently used\n"
    "                     programs go first\n"
    "  KILN_CACHE=off     keep programs in memory only\n";

typedef struct totals {
    int64_t programs, damaged, bytes;
} totals;

/* Copies the value of a key's line "WORD VALUE", at most `shown` bytes. Keys come from files: '?'
 * replaces their control characters, which must not reach the terminal. */
static void key_value(const char *key, const char *word, char *value, size_t shown)
{
    size_t length = strlen(word), used = 0;
    const char *from = "-";
    for (const char *line = key; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, word, length) == 0 && line[length] == ' ') {
            from = line + length + 1;
            break;
        }
    }
    for (; *from && *from != '\n' && used < shown; from++)
        value[used++] = (unsigned char)*from < ' ' || *from == 127 ? '?' : *from;
    value[used] = '\0';
    if (used == shown && *from && *from != '\n')
        memcpy(value + used - 3, "...", 3);
}

static void show_entry(void *user, const kiln_cache_entry *e)
{
    totals *sum = user;
    if (sum->programs + sum->damaged == 0)
        printf("%10s  %-16s  %-*s  %-*s  %s\n", "SIZE", "LAST USED", DEVICE_SHOWN, "DEVICE",
               TEMPLATE_SHOWN, "TEMPLATE", "OPTIONS");
    char size[NUMBER_TEXT], when[32] = "-";
    time_t used = (time_t)e->used;
    struct tm tm;
    if (localtime_r(&used, &tm))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M", &tm);
    size_text(e->bytes, size);
    printf("%10s  %-16s  ", size, when);
    sum->bytes += e->bytes;
    if (!e->valid) {
        sum->damaged++;
        printf("damaged or of another version: %s\n", e->file);
        return;
    }
    sum->programs++;
    char device[DEVICE_SHOWN + 1], template[TEMPLATE_SHOWN + 1], options[OPTIONS_SHOWN + 1];
    key_value(e->key, "device", device, DEVICE_SHOWN);
    key_value(e->key, "template", template, TEMPLATE_SHOWN);
    key_value(e->key, "options", options, OPTIONS_SHOWN);
    printf("%-*s  %-*s  %s\n", DEVICE_SHOWN, device, TEMPLATE_SHOWN, template, options);
}

static kiln_status show(const char *dir)
{
    totals sum = {0};
    char size[NUMBER_TEXT];
    kiln_status status = kiln_cache_list(dir, show_entry, &sum);
    if (status)
        return status;
    size_text(sum.bytes, size);
    printf("%s: %lld program%s, %s", dir, (long long)sum.programs, sum.programs == 1 ? "" : "s",
           size);
    if (sum.damaged)
        printf(", %lld of no use", (long long)sum.damaged);
    printf("\n");
    return KILN_OK;
}

static kiln_status clear(const char *dir)
{
    int64_t removed;
    kiln_status status = kiln_cache_clear(dir, &removed);
    if (!status || removed)
        printf("%s: removed %lld file%s\n", dir, (long long)removed, removed == 1 ? "" : "s");
    return status;
}

static const struct {
    const char *name;
    kiln_status (*run)(const char *dir);
} words[] = {{"show", show}, {"clear", clear}};

static int usage(const char *what, const char *word)
{
    fprintf(stderr, "kiln cache: %s%s; say show or clear (--help explains)\n", what, word);
    return EXIT_USAGE;
}

static int run(kiln_status (*word)(const char *dir))
{
    /* A handle without a device is enough to tell where the cache is. */
    const kiln_settings settings = {.rows_file = "off", .shipped_dir = "off"};
    kiln *k;
    kiln_status status = kiln_open(&k, NULL, NULL, &settings);
    if (!status) {
        const char *dir = kiln_cache_dir(k);
        if (*dir)
            status = word(dir);
        else
            printf("the program cache is switched off: KILN_CACHE=off, or no home directory\n");
    }
    if (status)
        fprintf(stderr, "kiln cache: %s\n", kiln_last_error());
    kiln_close(k);
    return (int)status;
}

int cache_command(int argc, char **argv)
{
    static const struct option flags[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    optind = 0; /* glibc: start afresh after another parse */
    opterr = 0;
    switch (getopt_long(argc, argv, "+h", flags, NULL)) {
    case -1:
        break;
    case 'h':
        fputs(help, stdout);
        return EXIT_OK;
    default:
        return usage("unknown flag ", argv[1]); /* only the first word was parsed */
    }
    if (optind >= argc)
        return usage("what to do is missing", "");
    if (optind + 1 < argc)
        return usage("only one word is taken, not also ", argv[optind + 1]);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(argv[optind], words[i].name) == 0)
            return run(words[i].run);
    return usage("unknown word ", argv[optind]);
}
