/* Keeps, in the format of the program cache, what was measured on a GPU. */
#include "measured.h"

#include "runtime/programs/cache_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Numbers outside are no device's. */
enum { LEAST_MBS = 100, MOST_MBS = 100000000, LEAST_NS = 500, MOST_NS = 1000000 };

enum { RECORD_TEXT = 256, KEY_TEXT = 512 };

/* The line "template" is what `kiln cache show` prints. */
static void write_key(const kiln_device_facts *facts, char key[KEY_TEXT])
{
    const char *const texts[] = {"kiln measured 1\nplatform ",
                                 facts->platform,
                                 "\ndevice ",
                                 facts->name,
                                 "\ndriver ",
                                 facts->driver};
    size_t used = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (const char *c = texts[i]; *c && used < KEY_TEXT - 64; c++)
            key[used++] = i % 2 && (unsigned char)*c < ' ' ? ' ' : *c;
    snprintf(key + used, KEY_TEXT - used, "\ntemplate memory and launches\n");
}

/* Returns the number behind the word at the beginning of a line; -1: there is none. */
static int64_t number_of(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, word, length) == 0)
            return strtoll(line + length, NULL, 10);
    }
    return -1;
}

static bool decode(const char *text, kiln_measured *m)
{
    static const char date[] = "date ";
    const int64_t mbs = number_of(text, "copy_mbs "), ns = number_of(text, "enqueue_ns ");
    if (strncmp(text, date, sizeof date - 1) != 0 || mbs < LEAST_MBS || mbs > MOST_MBS ||
        ns < LEAST_NS || ns > MOST_NS)
        return false;
    *m = (kiln_measured){.copy_gbs = (double)mbs / 1e3, .enqueue_ms = (double)ns / 1e6};
    text += sizeof date - 1;
    for (size_t i = 0; i + 1 < sizeof m->date && strchr("0123456789-", text[i]) && text[i]; i++)
        m->date[i] = text[i];
    return true;
}

bool kiln_measured_load(const char *dir, const kiln_device_facts *facts, kiln_measured *m,
                        const kiln_logger *logger)
{
    char key[KEY_TEXT], text[RECORD_TEXT] = "";
    unsigned char *data = NULL;
    kiln_cache_record record;
    if (!*dir)
        return false;
    write_key(facts, key);
    const char *why = kiln_cache_load(dir, key, true, &data, &record);
    if (!why) {
        const size_t size = record.binary_size;
        memcpy(text, record.binary, size < sizeof text ? size : sizeof text - 1);
        why = decode(text, m) ? NULL : "numbers that are no device's";
    }
    free(data);
    if (why)
        kiln_log(logger, "nothing measured on the device is used: %s", why);
    return !why;
}

void kiln_measured_store(const char *dir, const kiln_device_facts *facts, const kiln_measured *m,
                         const kiln_logger *logger)
{
    char key[KEY_TEXT], text[RECORD_TEXT];
    const char *why = kiln_cache_distrust_dir(dir);
    write_key(facts, key);
    snprintf(text, sizeof text, "date %s\ncopy_mbs %" PRId64 "\nenqueue_ns %" PRId64 "\n", m->date,
             (int64_t)(1e3 * m->copy_gbs), (int64_t)(1e6 * m->enqueue_ms));
    const kiln_cache_record record = {key, (const unsigned char *)text, strlen(text)};
    char name[KILN_CACHE_NAME];
    kiln_cache_name(key, name);
    if (why)
        kiln_log(logger, "what was measured on the device is not kept in %s: %s", dir, why);
    else
        kiln_cache_write(dir, name, &record, logger);
}

void kiln_measured_use(const kiln_measured *m, kiln_device_facts *facts)
{
    if (facts->kind != KILN_DEVICE_GPU)
        return;
    facts->gpu.memory_gbs = m->copy_gbs;
    facts->gpu.enqueue_ms = m->enqueue_ms;
    kiln_device_set_roofline(facts, facts->gpu.clock_ghz);
}
