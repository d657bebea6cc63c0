/* Appends rows to a file that other processes may be appending to, and names that file. */
#include "rows.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_TEXT = 4096, PATH_TEXT = 4096 };

/* A text that grows within its room; what does not fit sets `full`. */
typedef struct line {
    char text[LINE_TEXT];
    size_t used;
    bool full;
} line;

static void put(line *l, const char *text)
{
    size_t length = strlen(text);
    if (l->full || length >= sizeof l->text - l->used) {
        l->full = true;
        return;
    }
    memcpy(l->text + l->used, text, length + 1);
    l->used += length;
}

/* Writes a text as a file holds it: without control characters and bytes that might not be
 * UTF-8. */
static char plain(char c)
{
    return (unsigned char)c < 0x20 || (unsigned char)c > 0x7e ? '?' : c;
}

static void put_quoted(line *l, const char *text)
{
    put(l, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            put(l, "\\");
        put(l, (char[]){plain(*text), '\0'});
    }
    put(l, "\"");
}

static void put_number(line *l, const char *name, double value)
{
    char text[64];
    snprintf(text, sizeof text, ", %s: %.6g", name, value);
    put(l, text);
}

static void put_text(line *l, const char *name, const char *text)
{
    put(l, ", ");
    put(l, name);
    put(l, ": ");
    put_quoted(l, text);
}

/* Numbers are written with a decimal point whatever the program's locale says. */
static void put_row(line *l, const kiln_row *row)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = c ? uselocale(c) : (locale_t)0;
    put(l, "- {key: ");
    put_quoted(l, row->key);
    put_text(l, "solver", row->solver);
    put_number(l, "version", row->version);
    put_text(l, "config", row->config);
    put_number(l, "ms", row->ms);
    put_number(l, "spread", row->spread);
    put_number(l, "runs", row->runs);
    put_number(l, "error", row->error);
    put_text(l, "hash", row->hash);
    put_text(l, "driver", row->driver);
    put_text(l, "date", row->date);
    if (*row->without)
        put_text(l, "without", row->without);
    if (*row->core)
        put_text(l, "core", row->core);
    put(l, "}\n");
    if (c) {
        uselocale(before);
        freelocale(c);
    }
}

static void put_head(line *l, const char *device)
{
    put(l, "# kiln tuning rows; see tuning-db/README.md\nschema: 1\ndevice: ");
    put_quoted(l, device);
    put(l, "\nrows:\n");
}

static kiln_status fail_write(const char *file, const char *why)
{
    return kiln_fail(KILN_FILE, "cannot write tuning rows to %s: %s; name another file in KILN_DB",
                     file, why);
}

/* Appends a row whole or not at all, as far as the system allows: one write() with O_APPEND. */
static bool write_once(int fd, const line *l)
{
    ssize_t done;
    do
        done = write(fd, l->text, l->used);
    while (done < 0 && errno == EINTR);
    if (done >= 0 && (size_t)done != l->used)
        errno = ENOSPC;
    return done == (ssize_t)l->used;
}

static bool make_folders(const char *file)
{
    char path[PATH_TEXT];
    if (snprintf(path, sizeof path, "%s", file) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0755) != 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    return true;
}

/* Makes a file with nothing but its head, unless another process was quicker. Where the file system
 * has no links this does nothing, and the head goes with the first row. Returns false, with errno,
 * where no file can be written: on a full disk an empty file must not be left. */
static bool make_head(const char *file, const char *device)
{
    static atomic_uint made;
    char temporary[PATH_TEXT];
    if (snprintf(temporary, sizeof temporary, "%s.%ld.%u.tmp", file, (long)getpid(),
                 atomic_fetch_add(&made, 1)) >= (int)sizeof temporary)
        return true;
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return false;
    line l = {.used = 0};
    put_head(&l, device);
    int error = write_once(fd, &l) ? 0 : errno;
    if (close(fd) != 0 && !error)
        error = errno;
    if (!error)
        (void)!link(temporary, file);
    unlink(temporary);
    errno = error;
    return !error;
}

typedef struct found_head {
    char device[128];
    bool good;
} found_head;

static void take_head(void *user, const kiln_rows_piece *p)
{
    found_head *found = user;
    if (p->kind != KILN_ROWS_HEAD)
        return;
    snprintf(found->device, sizeof found->device, "%s", p->device);
    found->good = !p->why;
}

bool kiln_rows_name_device(const char *head, const char *device)
{
    while (*head && *device && plain(*head) == plain(*device))
        head++, device++;
    return *head == *device;
}

/* Rows must not end up in a file that nobody will read them from, or in another device's. */
static kiln_status check_head(int fd, const char *file, const char *device)
{
    char *text = malloc(KILN_ROWS_MAX_HEAD);
    ssize_t got = text ? pread(fd, text, KILN_ROWS_MAX_HEAD, 0) : -1;
    found_head found = {.good = false};
    if (got > 0)
        kiln_rows_pieces(text, (size_t)got, take_head, &found);
    free(text);
    if (got < 0)
        return fail_write(file, strerror(errno));
    if (!found.good)
        return fail_write(file,
                          "it does not begin like a file of tuning rows, with a line \"rows:\" "
                          "in its first 64 KiB");
    if (!*found.device || kiln_rows_name_device(found.device, device))
        return KILN_OK;
    return kiln_fail(KILN_FILE,
                     "%s holds rows of the device \"%s\", not \"%s\"; name another file in KILN_DB",
                     file, found.device, device);
}

static kiln_status append_to(int fd, const char *file, const char *device, const kiln_row *row)
{
    struct stat st;
    char last = '\n';
    line l = {.used = 0};
    if (fstat(fd, &st) != 0)
        return fail_write(file, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return fail_write(file, "it is not a plain file");
    if (st.st_size == 0)
        put_head(&l, device);
    else if (check_head(fd, file, device) != KILN_OK)
        return KILN_FILE;
    else if (pread(fd, &last, 1, st.st_size - 1) == 1 && last != '\n')
        put(&l, "\n"); /* a row that was cut short must not swallow this one */
    if (!row)
        return KILN_OK;
    put_row(&l, row);
    if (l.full)
        return kiln_fail(KILN_INVALID, "the tuning row of %s is too long to be written", row->key);
    return write_once(fd, &l) ? KILN_OK : fail_write(file, strerror(errno));
}

kiln_status kiln_rows_append(const char *file, const char *device, const kiln_row *row)
{
    if (!make_folders(file))
        return fail_write(file, strerror(errno));
    if (access(file, F_OK) != 0 && !make_head(file, device))
        return fail_write(file, strerror(errno));
    int fd = open(file, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);
    if (fd < 0)
        return fail_write(file, strerror(errno));
    kiln_status status = append_to(fd, file, device, row);
    close(fd);
    return status;
}

void kiln_device_slug(const char *name, char *slug, size_t size)
{
    size_t used = 0;
    for (; *name && used + 1 < size; name++) {
        bool keep = (unsigned char)*name < 0x80 && isalnum((unsigned char)*name);
        if (keep)
            slug[used++] = (char)tolower((unsigned char)*name);
        else if (used && slug[used - 1] != '-')
            slug[used++] = '-';
    }
    while (used && slug[used - 1] == '-')
        used--;
    if (size)
        slug[used] = '\0';
    if (used == 0)
        snprintf(slug, size, "device");
}

void kiln_rows_default_file(const char *device, char *file, size_t size)
{
    const char *named = getenv("KILN_DB"), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    char slug[128];
    kiln_device_slug(device, slug, sizeof slug);
    int length = 0;
    file[0] = '\0';
    if (named && *named)
        length = strcmp(named, "off") == 0 ? 0 : snprintf(file, size, "%s", named);
    else if (data && data[0] == '/')
        length = snprintf(file, size, "%s/kiln/%s.yaml", data, slug);
    else if (home && *home == '/')
        length = snprintf(file, size, "%s/.local/share/kiln/%s.yaml", home, slug);
    if (length >= (int)size)
        file[0] = '\0';
}
