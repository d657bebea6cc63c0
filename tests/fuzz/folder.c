/* Makes and removes the folder of a fuzz target. */
#include "folder.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st, (void)kind, (void)where;
    return remove(path);
}

static void remove_folder(void)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *fuzz_folder(void)
{
    if (*folder)
        return folder;
    snprintf(folder, sizeof folder, "%s/kiln_fuzz_XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    require(mkdtemp(folder) != NULL);
    atexit(remove_folder);
    return folder;
}

void fuzz_path(const char *name, char *path, size_t size)
{
    const int length = snprintf(path, size, "%s/%s", fuzz_folder(), name);
    require(length > 0 && (size_t)length < size);
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(path, 0700);
    }
}

void fuzz_write(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    require(f != NULL);
    require(fwrite(data, 1, size, f) == size);
    require(fclose(f) == 0);
}

char *fuzz_read(const char *path, size_t *size)
{
    char *text = NULL, block[4096];
    size_t got;
    FILE *f = fopen(path, "rb"), *to = open_memstream(&text, size);
    require(f && to);
    while ((got = fread(block, 1, sizeof block, f)) > 0)
        fwrite(block, 1, got, to);
    fclose(f);
    require(fclose(to) == 0);
    return text;
}
