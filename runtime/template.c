/* Finds a template's text and puts common.cl before it. */
#include "template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    char *text = NULL;
    size_t used = 0, room = 0;
    for (;;) {
        if (used + 1 >= room) {
            char *more = realloc(text, room = room ? room * 2 : 8192);
            if (!more) {
                free(text);
                text = NULL;
                break;
            }
            text = more;
        }
        size_t got = fread(text + used, 1, room - used - 1, f);
        used += got;
        if (got == 0)
            break;
    }
    fclose(f);
    if (text)
        text[used] = '\0';
    return text;
}

static char *find(const char *dir, const char *file)
{
    if (dir && *dir) {
        char path[4096];
        if (snprintf(path, sizeof path, "%s/%s", dir, file) < (int)sizeof path) {
            char *text = read_text(path);
            if (text)
                return text;
        }
    }
    for (const kiln_template *t = kiln_embedded_templates; t->file; t++)
        if (strcmp(t->file, file) == 0)
            return strdup(t->text);
    return NULL;
}

char *kiln_template_source(const char *dir, const char *file)
{
    char *common = find(dir, "common.cl"), *body = find(dir, file);
    char *all = NULL;
    if (common && body) {
        size_t size = strlen(common) + strlen(body) + strlen(file) + 64;
        all = malloc(size);
        if (all)
            snprintf(all, size, "#line 1 \"common.cl\"\n%s\n#line 1 \"%s\"\n%s", common, file,
                     body);
    }
    free(common);
    free(body);
    return all;
}
