/* Fuzzes templates' include lines: the input is the text of up to four files, divided by zero
 * bytes, in a folder of templates. A source is made, or the reason is given. */
#include "runtime/programs/template.h"

#include "fuzz.h"

#include <unistd.h>

enum { FILES = 4 };

static const char *const file_name[FILES] = {"a.cl", "b.cl", "c.cl", "types.cl"};
static char folder[64];

static const char *path_of(int file)
{
    static char path[96];
    snprintf(path, sizeof path, "%s/%s", folder, file_name[file]);
    return path;
}

static void remove_folder(void)
{
    for (int i = 0; i < FILES; i++)
        unlink(path_of(i));
    rmdir(folder);
}

/* In memory where the system has such a folder. */
static void make_folder(void)
{
    snprintf(folder, sizeof folder, "%s/kiln_fuzz_XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    require(mkdtemp(folder) != NULL);
    atexit(remove_folder);
}

static void write_files(const uint8_t *data, size_t size)
{
    for (int i = 0; i < FILES; i++) {
        const uint8_t *end = size ? memchr(data, 0, size) : NULL;
        const size_t length = end ? (size_t)(end - data) : size;
        unlink(path_of(i));
        if (length) {
            FILE *f = fopen(path_of(i), "wb");
            require(f && fwrite(data, 1, length, f) == length && fclose(f) == 0);
        }
        data += length + (end != NULL);
        size -= length + (end != NULL);
    }
}

/* No line of a source is an include line that names a file and its end. */
static void check_source(const char *source, const char *file)
{
    char first[64];
    snprintf(first, sizeof first, "#line 1 \"%s\"\n", file);
    require(strncmp(source, first, strlen(first)) == 0);
    for (const char *line = source; *line; line += *line == '\n') {
        const size_t length = strcspn(line, "\n");
        static const char include[] = "#include \"";
        if (length > sizeof include && memcmp(line, include, sizeof include - 1) == 0) {
            const char *name = line + sizeof include - 1;
            const size_t named = strcspn(name, "\"\n");
            require(name[named] != '"');
        }
        line += length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > FUZZ_MOST)
        return 0;
    if (!*folder)
        make_folder();
    write_files(data, size);
    for (int i = 0; i < FILES; i++) {
        char *source = NULL;
        if (kiln_template_source(folder, file_name[i], &source)) {
            require(source == NULL);
            fuzz_check_why(kiln_last_error(), KILN_ERROR_TEXT);
        } else {
            check_source(source, file_name[i]);
        }
        free(source);
    }
    return 0;
}
