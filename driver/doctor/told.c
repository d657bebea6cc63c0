/* What `kiln doctor` says, without names of people. */
#include "told.h"

#include "driver/base/flags.h"
#include "driver/base/json_csv.h"
#include "driver/base/utf8.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const words[] = {"ok", "warning", "bad"};

/* Replaces `old` where it is whole parts of a path, or where the path begins with it. */
static void replace(char *text, size_t size, const char *old, const char *new, bool begins)
{
    const size_t from = strlen(old), to = strlen(new);
    for (char *at = text; (at = strstr(at, old)); at += to) {
        const size_t left = strlen(at + from);
        const bool whole = !at[from] || strchr("/:;,'\" )", at[from]);
        const bool first = at == text || strchr(" =:;,'\"(", at[-1]);
        if (!whole || (begins && !first) || (size_t)(at - text) + to + left + 1 > size) {
            at += from - to;
            continue;
        }
        memmove(at + to, at + from, left + 1);
        memcpy(at, new, to);
    }
}

static void replace_folder(char *text, size_t size, const char *folder)
{
    char path[1024];
    size_t n = folder ? (size_t)snprintf(path, sizeof path, "%s", folder) : 0;
    while (n > 1 && n < sizeof path && path[n - 1] == '/')
        path[--n] = '\0';
    if (n > 1 && n < sizeof path)
        replace(text, size, path, "~", true);
}

void told_privately(char *text, size_t size)
{
    const struct passwd *user = getpwuid(geteuid());
    char part[256];
    replace_folder(text, size, getenv("HOME"));
    if (!user)
        return;
    replace_folder(text, size, user->pw_dir);
    if (*user->pw_name && snprintf(part, sizeof part, "/%s", user->pw_name) < (int)sizeof part)
        replace(text, size, part, "/USER", false);
}

/* Drivers and files may say anything: no control character reaches the terminal. */
static void print_text(FILE *to, const char *s)
{
    while (*s)
        s += utf8_write(to, s);
}

static void print_finding(FILE *to, const finding *f)
{
    fprintf(to, "%s%s%s: ", f->check, *f->device ? " " : "", f->device);
    print_text(to, f->value);
}

void told_line(const finding *f)
{
    printf("%-8s ", words[f->verdict]);
    print_finding(stdout, f);
    fputs(*f->remedy ? "; remedy: " : "", stdout);
    print_text(stdout, f->remedy);
    putchar('\n');
    fflush(stdout);
}

void told_json(const finding *f)
{
    json_csv j = {0};
    json_csv_words(&j, "check", true, f->check);
    json_csv_words(&j, "device", *f->device, f->device);
    json_csv_words(&j, "verdict", true, words[f->verdict]);
    json_csv_words(&j, "value", true, f->value);
    json_csv_words(&j, "remedy", *f->remedy, f->remedy);
    json_csv_print_json(&j);
    fflush(stdout);
}

void told_paragraph(const finding *f, size_t count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        return;
    for (size_t i = 0; i < count; i++) {
        fputs(i ? " | " : "", to);
        if (f[i].verdict != FOUND_OK)
            fprintf(to, "%s: ", f[i].verdict == FOUND_BAD ? "BAD" : "WARNING");
        print_finding(to, &f[i]);
    }
    if (fclose(to) == 0) {
        puts("\nFor a bug report:");
        flags_print_wrapped(stdout, 0, 0, text);
    }
    free(text);
}
