/* One line of text that is appended to a file in a single write. */
#ifndef KILN_APPEND_LINE_H
#define KILN_APPEND_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* A text that grows within its room; what does not fit sets `full`. Start with all zero. */
typedef struct kiln_line {
    char text[8192];
    size_t used;
    bool full;
} kiln_line;

void kiln_line_put(kiln_line *l, const char *text);
/* Puts the text in double quotes, as YAML and JSON have it, without control characters and bytes
 * that might not be UTF-8. */
void kiln_line_put_quoted(kiln_line *l, const char *text);
/* Puts six digits of a number with a decimal point, whatever the program's locale says; of a whole
 * number all digits, because a count must read as one. */
void kiln_line_put_number(kiln_line *l, double value);
/* Returns what kiln_line_put_quoted() makes of a character, but for its backslash. */
char kiln_line_plain(char c);

/* Makes the folders of a file. Returns false, with errno. */
bool kiln_make_folders(const char *file);

/* Opens a plain file to read it and to append to it; makes it where it is missing. Returns -1 with
 * errno, as kiln_plain_file_open(). */
int kiln_append_open(const char *file);

/* Does the same for a file that other processes may replace or write to: until it is closed, it
 * stays the one of that name, and nobody else has it so. Waits so many ms for the others, for ever
 * where that is below 0; then errno is EWOULDBLOCK. Where the file system has no locks, whoever
 * replaces the file must look for itself. */
int kiln_append_open_locked(const char *file, int wait_ms);

/* Appends the line whole or not at all, as far as the system allows: one write. A kill may cut a
 * write at the end of a page; the line that follows such a stump is written again. Returns false,
 * with errno. */
bool kiln_append_write(int fd, const kiln_line *l);

/* Returns whether a kill cut the file's last line short: the next one must begin with a newline. */
bool kiln_append_cut_short(int fd);

#endif
