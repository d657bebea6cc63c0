/* Runs a fuzz target over the files of a folder, so that corpora are plain tests.
 *
 * run.sh searches for new inputs, with libFuzzer in the place of this file.
 */
#include "fuzz.h"

#include <dirent.h>

/* Allocates exactly the size of the file, so that a sanitizer sees a read past the end. */
static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    uint8_t *data = NULL;
    if (fseek(f, 0, SEEK_END) == 0) {
        long length = ftell(f);
        rewind(f);
        data = length < 0 ? NULL : malloc(length ? (size_t)length : 1);
        *size = data ? fread(data, 1, (size_t)length, f) : 0;
    }
    fclose(f);
    return data;
}

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    if (!folder) {
        fprintf(stderr, "usage: %s FOLDER (of inputs)\n", argv[0]);
        return 2;
    }
    int count = 0, unread = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[4096];
        size_t size;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        uint8_t *data = read_file(path, &size);
        if (data) {
            LLVMFuzzerTestOneInput(data, size);
            count++;
        } else {
            fprintf(stderr, "%s: cannot be read\n", path);
            unread++;
        }
        free(data);
    }
    closedir(folder);
    printf("%d inputs\n", count);
    return count == 0 || unread > 0;
}
