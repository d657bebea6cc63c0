/* Fuzzes files of KILN_LOG_CMD: a process that adds its runs to a file, whatever that holds, keeps
 * every byte of it but the number of its own line, and then the file has one run more. */
#include "runtime/kiln/call_log.h"

#include "folder.h"

static const char own_key[] = "fwd-f32-n1-c4-k3-i5x5-f3x3";

/* Returns the runs in a line of the process's own convolution, or 0. */
static long long own_runs(const char *line, size_t length)
{
    char text[128], again[128];
    long long runs = 0;
    if (length >= sizeof text || memchr(line, '\0', length))
        return 0;
    memcpy(text, line, length);
    text[length] = '\0';
    if (sscanf(text, "kiln conv --problem fwd-f32-n1-c4-k3-i5x5-f3x3  # %18lld", &runs) != 1 ||
        runs < 1)
        return 0;
    snprintf(again, sizeof again, "kiln conv --problem %s  # %lld run%s", own_key, runs,
             runs == 1 ? "" : "s");
    return strcmp(text, again) == 0 ? runs : 0;
}

/* What the file must be: one run is added to the first of the own lines, or in a line at the end.
 */
static char *expected(const char *data, size_t size, size_t *length)
{
    char *text = NULL;
    bool added = false;
    FILE *to = open_memstream(&text, length);
    require(to != NULL);
    if (size == 0)
        fputs("# convolutions that programs ran; kiln tune FILE --profile tunes them\n", to);
    for (const char *at = data, *end = data + size; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t line = stop ? (size_t)(stop - at) : (size_t)(end - at);
        const long long runs = added ? 0 : own_runs(at, line);
        if (runs > 0)
            fprintf(to, "kiln conv --problem %s  # %lld runs\n", own_key, runs + 1);
        else
            fwrite(at, 1, line, to), fputc('\n', to);
        added = added || runs > 0;
        at += line + 1;
    }
    if (!added)
        fprintf(to, "kiln conv --problem %s  # 1 run\n", own_key);
    fclose(to);
    return text;
}

static void check_file(const char *path, const char *text, size_t length)
{
    size_t size = 0;
    char *found = fuzz_read(path, &size);
    require(size == length && memcmp(found, text, length) == 0);
    free(found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[96];
    static kiln_call *call;
    static const kiln_logger nobody;
    size_t length = 0;
    if (size > FUZZ_MOST)
        return 0;
    if (!call) {
        kiln_problem p;
        fuzz_path("calls.txt", path, sizeof path);
        require(kiln_problem_parse(&p, own_key, NULL) == KILN_OK);
        call = kiln_call_of(path, &p);
        require(call != NULL);
    }
    fuzz_write(path, data, size);
    char *text = expected((const char *)data, size, &length);
    kiln_call_count(call);
    kiln_call_log_write(path, &nobody);
    check_file(path, text, length);
    kiln_call_log_write(path, &nobody); /* nothing is new */
    check_file(path, text, length);
    free(text);
    return 0;
}
