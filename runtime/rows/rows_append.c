/* Appends rows to a file that other processes may be appending to, and names that file. */
#include "append_line.h"

#include "runtime/base/plain_file.h"

#include "rows.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_TEXT = 4096 };

static void put_number(kiln_line *l, const char *name, double value)
{
    kiln_line_put(l, ", ");
    kiln_line_put(l, name);
    kiln_line_put(l, ": ");
    kiln_line_put_number(l, value);
}

static void put_text(kiln_line *l, const char *name, const char *text)
{
    kiln_line_put(l, ", ");
    kiln_line_put(l, name);
    kiln_line_put(l, ": ");
    kiln_line_put_quoted(l, text);
}

static void put_row(kiln_line *l, const kiln_row *row)
{
    kiln_line_put(l, "- {key: ");
    kiln_line_put_quoted(l, row->key);
    put_text(l, "solver", row->solver);
    put_number(l, "version", row->version);
    put_text(l, "config", row->config);
    put_number(l, "ms", row->ms);
    put_number(l, "iqr", row->iqr);
    put_number(l, "runs", row->runs);
    put_number(l, "error", row->error);
    if (*row->guess) {
        put_text(l, "guess", row->guess);
        put_number(l, "guess_ms", row->guess_ms);
        put_number(l, "turns", row->turns);
        put_number(l, "turns_won", row->turns_won);
        put_number(l, "win_iqr", row->win_iqr);
    }
    if (*row->second) {
        put_text(l, "second", row->second);
        put_number(l, "second_ms", row->second_ms);
    }
    put_text(l, "hash", row->hash);
    put_text(l, "driver", row->driver);
    put_text(l, "date", row->date);
    if (*row->without)
        put_text(l, "without", row->without);
    if (*row->core)
        put_text(l, "core", row->core);
    kiln_line_put(l, "}\n");
}

size_t kiln_row_text(const kiln_row *row, char *text, size_t size)
{
    kiln_line l = {.used = 0};
    if (text && size)
        text[0] = '\0';
    if (!row || !text)
        return 0;
    put_row(&l, row);
    if (l.full || l.used >= size)
        return 0;
    memcpy(text, l.text, l.used);
    text[l.used] = '\0';
    return l.used;
}

static void put_head(kiln_line *l, const char *device)
{
    kiln_line_put(l, "# kiln tuning rows; see tuning-db/README.md\nschema: 1\ndevice: ");
    kiln_line_put_quoted(l, device);
    kiln_line_put(l, "\nrows:\n");
}

static kiln_status fail_write(const char *file, const char *why)
{
    return kiln_fail(KILN_FILE, "cannot write tuning rows to %s: %s; name another file in KILN_DB",
                     file, why);
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
    kiln_line l = {.used = 0};
    put_head(&l, device);
    int error = kiln_append_write(fd, &l) ? 0 : errno;
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
    while (*head && *device && kiln_line_plain(*head) == kiln_line_plain(*device))
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
    kiln_line l = {.used = 0};
    if (fstat(fd, &st) != 0)
        return fail_write(file, strerror(errno));
    if (st.st_size == 0)
        put_head(&l, device);
    else if (check_head(fd, file, device) != KILN_OK)
        return KILN_FILE;
    else if (kiln_append_cut_short(fd))
        kiln_line_put(&l, "\n"); /* a row that was cut short must not swallow this one */
    if (!row)
        return KILN_OK;
    put_row(&l, row);
    if (l.full)
        return kiln_fail(KILN_INVALID, "the tuning row of %s is too long to be written", row->key);
    return kiln_append_write(fd, &l) ? KILN_OK : fail_write(file, strerror(errno));
}

kiln_status kiln_rows_append(const char *file, const char *device, const kiln_row *row)
{
    if (!kiln_make_folders(file))
        return fail_write(file, strerror(errno));
    if (access(file, F_OK) != 0 && !make_head(file, device))
        return fail_write(file, strerror(errno));
    int fd = kiln_append_open_locked(file, -1);
    char reason[128];
    if (fd < 0)
        return fail_write(file, kiln_plain_file_reason(errno, reason));
    kiln_status status = append_to(fd, file, device, row);
    close(fd);
    return status;
}

kiln_status kiln_rows_make(const char *file, const char *device)
{
    if (!file || !device)
        return kiln_fail(KILN_INVALID, "kiln_rows_make: file and device must not be NULL");
    return kiln_rows_append(file, device, NULL);
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
