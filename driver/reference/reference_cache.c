/* Stores the reference's sums and magnitudes in files. */
#include "reference_cache.h"

#include "kept_sums.h"
#include "quantised.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { PATH_TEXT = 4096 };

kiln_status reference_cache_check(const char *dir, char *why)
{
    struct stat st;
    int error = mkdir(dir, 0755) == 0 || errno == EEXIST ? 0 : errno;
    if (!error && stat(dir, &st) != 0)
        error = errno;
    if (!error && !S_ISDIR(st.st_mode))
        error = ENOTDIR;
    if (error)
        snprintf(why, KILN_ERROR_TEXT, "--verification_cache (-C) %.120s: %s; name a folder", dir,
                 strerror(error));
    return error ? KILN_FILE : KILN_OK;
}

/* The file's first bytes; then `count` sums and `count` magnitudes. */
typedef struct head {
    char magic[8];
    uint64_t key, checksum;
    int64_t count;
} head;

/* Another number where sums change their meaning. */
static const char magic[8] = "kilnre2";

static uint64_t checksum_of(const kept_sums *s)
{
    return XXH3_64bits(s->sum, 2 * (size_t)s->count * sizeof *s->sum);
}

/* Hashes the problem without its epilogue, which comes after the sums, the layout of its filter,
 * and the sources' contents. */
static uint64_t key_of(const kiln_problem *p, const reference_tensors *t)
{
    char text[KILN_KEY_TEXT];
    kiln_problem_row_key(p, text, sizeof text);
    uint64_t key = XXH3_64bits(text, strlen(text));
    key = XXH3_64bits_withSeed(p->w_layout, strlen(p->w_layout), key);
    reference_source source[2];
    reference_sources(p, t, source);
    for (int i = 0; i < 2; i++)
        key = XXH3_64bits_withSeed(source[i].data,
                                   (size_t)source[i].count * kiln_type_size(source[i].type), key);
    const int zero[] = {quantised_zero(p, t, 'x'), quantised_zero(p, t, 'w')};
    return XXH3_64bits_withSeed(zero, sizeof zero, key);
}

/* Writes sizes as in "28x28". Returns text. */
static const char *list(char text[80], const int64_t *values, int n)
{
    size_t used = 0;
    for (int i = 0; i < n; i++)
        used +=
            (size_t)snprintf(text + used, 80 - used, "%s%lld", i ? "x" : "", (long long)values[i]);
    return text;
}

/* Writes the name of MIOpen's driver, such as
 * conv_fwd_out_conv_2_default_1_16x192x28x28_64x192x1x1_0x0_1x1_1x1_0_0_0_GPUfloat_REFdouble, and
 * the key. */
static void file_name(char path[PATH_TEXT], const char *dir, const kiln_problem *p, uint64_t key)
{
    static const char *const bases[] = {"conv_fwd_out", "conv_bwd_dat", "conv_bwd_wei"};
    static const char *const types[KILN_TYPES] = {
        "", "float", "float16", "bfloat16", "int8", "int32", "float8e4m3", "float8e5m2", "uint8"};
    char in[80], filter[80], pad[80], stride[80], dilation[80];
    int n = p->spatial_rank;
    kiln_type source = p->direction == KILN_FORWARD ? p->x_type : p->y_type;
    snprintf(path, PATH_TEXT,
             "%s/%s_%s_%d_default_%lld_%lldx%lldx%s_%lldx%lldx%s_%s_%s_%s_0_%d_GPU%s_REFdouble_"
             "%016llx",
             dir, bases[p->direction], p->transposed ? "trans" : "conv", n, (long long)p->groups,
             (long long)p->batch, (long long)p->in_channels, list(in, p->input, n),
             (long long)p->out_channels, (long long)(p->in_channels / p->groups),
             list(filter, p->filter, n), list(pad, p->pad_begin, n), list(stride, p->stride, n),
             list(dilation, p->dilation, n), p->epilogue.bias, types[source],
             (unsigned long long)key);
}

static bool load(const char *path, uint64_t key, kept_sums *s)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) /* a pipe would hang us */
        return false;
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    head h;
    size_t n = 2 * (size_t)s->count;
    bool whole = fread(&h, sizeof h, 1, file) == 1 && memcmp(h.magic, magic, sizeof magic) == 0 &&
                 h.key == key && h.count == s->count &&
                 fread(s->sum, sizeof *s->sum, n, file) == n && h.checksum == checksum_of(s);
    fclose(file);
    return whole;
}

/* A result decides about later ones: nobody else may write to it, whatever the umask. */
static void store(const char *dir, const char *path, uint64_t key, const kept_sums *s)
{
    mkdir(dir, 0755);
    char temporary[PATH_TEXT + 32];
    snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    const int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!file) {
        if (fd >= 0)
            close(fd);
        return;
    }
    head h = {.key = key, .checksum = checksum_of(s), .count = s->count};
    memcpy(h.magic, magic, sizeof magic);
    size_t n = 2 * (size_t)s->count;
    bool whole = fwrite(&h, sizeof h, 1, file) == 1 && fwrite(s->sum, sizeof *s->sum, n, file) == n;
    whole = fclose(file) == 0 && whole;
    if (!whole || rename(temporary, path) != 0)
        remove(temporary);
}

bool reference_cache_visit(const char *dir, const kiln_problem *problem, const reference_tensors *t,
                           contraction_visit *visit, void *user)
{
    kept_sums s;
    if (!kept_sums_new(&s, reference_count(problem)))
        return reference_sums(problem, t, visit, user);
    char path[PATH_TEXT];
    uint64_t key = key_of(problem, t);
    file_name(path, dir, problem, key);
    bool done = load(path, key, &s);
    if (done) {
        kept_sums_replay(&s, visit, user);
    } else {
        done = kept_sums_record(&s, problem, t, visit, user);
        if (done)
            store(dir, path, key, &s);
    }
    kept_sums_free(&s);
    return done;
}
