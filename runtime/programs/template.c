/* Puts a program's source together: a template's text, and in the place of each #include that of
 * the file it names. */
#include "template.h"

#include "runtime/base/plain_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { MOST_FILES = 32, NAME_SIZE = 64 };

/* What a program consists of so far; each file is in it once. */
typedef struct parts {
    const char *dir;
    FILE *out;
    int count;
    struct {
        char name[NAME_SIZE];
        bool whole; /* false: it is being written */
    } file[MOST_FILES];
} parts;

/* Returns NULL with errno, as kiln_plain_file_open(). */
static char *read_text(const char *path)
{
    FILE *f = kiln_plain_file_stream(path);
    if (!f)
        return NULL;
    char *text = NULL;
    size_t used = 0, room = 0;
    for (;;) {
        if (used + 1 >= room) {
            char *more = realloc(text, room = room ? room * 2 : 8192);
            if (!more)
                break;
            text = more;
        }
        size_t got = fread(text + used, 1, room - used - 1, f);
        used += got;
        if (got == 0)
            break;
    }
    int error = used + 1 >= room ? ENOMEM : ferror(f) ? errno : 0;
    fclose(f);
    if (error) {
        free(text);
        errno = error;
        return NULL;
    }
    text[used] = '\0';
    return text;
}

/* Sets *text to the contents of a file of the folder; NULL: the folder has no such file. A file
 * that is there but cannot be read must not pass for the built-in one. */
static kiln_status read_in(const char *dir, const char *name, char **text)
{
    char path[4096], reason[128];
    *text = NULL;
    if (!dir || !*dir || snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
        return KILN_OK;
    *text = read_text(path);
    if (*text || errno == ENOENT || errno == ENOTDIR)
        return KILN_OK;
    return kiln_fail(errno == ENOMEM ? KILN_NO_MEMORY : KILN_FILE,
                     "cannot read the template %s: %s; mend it, or unset KILN_TEMPLATES", path,
                     kiln_plain_file_reason(errno, reason));
}

/* Sets *text to a template's contents; NULL: there is none of that name. */
static kiln_status find(const char *dir, const char *name, char **text)
{
    const kiln_template *t = kiln_embedded_templates;
    while (t->file && strcmp(t->file, name) != 0)
        t++;
    kiln_status status = read_in(dir, name, text);
    if (!status && !*text && t->file)
        status = read_in(dir, t->path, text);
    if (!status && !*text && t->file && !(*text = strdup(t->text)))
        status = kiln_fail(KILN_NO_MEMORY, "out of memory for template %s", name);
    return status;
}

/* Finds the name in a line '#include "NAME"'; *length receives its bytes. Returns NULL in any other
 * line. */
static const char *included_name(const char *line, int *length)
{
    static const char word[] = "#include \"";
    if (strncmp(line, word, sizeof word - 1) != 0)
        return NULL;
    line += sizeof word - 1;
    *length = (int)strcspn(line, "\"\n");
    return line[*length] == '"' ? line : NULL;
}

static kiln_status put_file(parts *p, const char *name, const char *includer);

/* A name with a folder would read any file of the system. */
static kiln_status put_included(parts *p, const char *name, int length, const char *includer)
{
    char copy[NAME_SIZE];
    if (length == 0 || length >= NAME_SIZE || *name == '.' || memchr(name, '/', (size_t)length))
        return kiln_fail(KILN_FILE,
                         "template %s includes \"%.*s\"; give a file's name of at most %d bytes, "
                         "without a folder",
                         includer, length < NAME_SIZE ? length : NAME_SIZE, name, NAME_SIZE - 1);
    memcpy(copy, name, (size_t)length);
    copy[length] = '\0';
    return put_file(p, copy, includer);
}

/* Line numbers stay those of the file: behind an included file they are set again. */
static kiln_status put_text(parts *p, const char *text, const char *name)
{
    fprintf(p->out, "#line 1 \"%s\"\n", name);
    for (int line = 1; *text; line++) {
        int named;
        const int length = (int)strcspn(text, "\n");
        const char *other = included_name(text, &named);
        if (other) {
            kiln_status status = put_included(p, other, named, name);
            if (status)
                return status;
            fprintf(p->out, "#line %d \"%s\"\n", line + 1, name);
        } else {
            fprintf(p->out, "%.*s\n", length, text);
        }
        text += length + (text[length] == '\n');
    }
    return KILN_OK;
}

/* Puts a file in, unless the program has it already. */
static kiln_status put_file(parts *p, const char *name, const char *includer)
{
    for (int i = 0; i < p->count; i++)
        if (strcmp(p->file[i].name, name) == 0)
            return p->file[i].whole
                       ? KILN_OK
                       : kiln_fail(KILN_FILE, "template %s includes %s, of which it is part",
                                   includer, name);
    if (p->count == MOST_FILES)
        return kiln_fail(KILN_FILE,
                         "template %s includes %s, one more than the %d files of a program",
                         includer, name, MOST_FILES);
    char *text;
    kiln_status status = find(p->dir, name, &text);
    if (status)
        return status;
    if (!text)
        return includer ? kiln_fail(KILN_FILE, "template %s includes %s, which is missing",
                                    includer, name)
                        : kiln_fail(KILN_FILE, "template %s is missing", name);
    const int own = p->count++;
    snprintf(p->file[own].name, NAME_SIZE, "%s", name);
    status = put_text(p, text, name);
    p->file[own].whole = true;
    free(text);
    return status;
}

kiln_status kiln_template_source(const char *dir, const char *file, char **source)
{
    char *text = NULL;
    size_t size;
    parts p = {.dir = dir, .out = open_memstream(&text, &size)};
    if (!p.out)
        return kiln_fail(KILN_NO_MEMORY, "out of memory for template %s", file);
    kiln_status status = put_file(&p, file, NULL);
    if ((fclose(p.out) != 0 || !text) && !status)
        status = kiln_fail(KILN_NO_MEMORY, "out of memory for template %s", file);
    if (status) {
        free(text);
        text = NULL;
    }
    *source = text;
    return status;
}

void kiln_plan_template_hash(const char *dir, const kiln_plan *plan, char hash[KILN_TEMPLATE_HASH])
{
    uint64_t all = 0;
    for (int i = 0; i < plan->nstages; i++) {
        if (plan->stage[i].kind != KILN_STAGE_LAUNCH)
            continue;
        char *source;
        if (!kiln_template_source(dir, plan->stage[i].template_file, &source))
            all = XXH3_64bits_withSeed(source, strlen(source), all);
        free(source);
    }
    snprintf(hash, KILN_TEMPLATE_HASH, "%016llx", (unsigned long long)all);
}
