/* Fuzzes files of the program cache: a file is refused, or is exactly what an encoder writes. */
#include "runtime/programs/cache_file.h"

#include "fuzz.h"

#include <xxhash.h>

enum { CHECKSUM_AT = 8, CHECKED_FROM = 24 };

static void decode(const uint8_t *data, size_t size)
{
    kiln_cache_record record;
    if (kiln_cache_decode(data, size, &record))
        return;
    size_t again_size = 0;
    unsigned char *again = kiln_cache_encode(&record, &again_size);
    require(again && again_size == size && memcmp(again, data, size) == 0);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    decode(data, size);
    if (size < CHECKED_FROM)
        return 0;
    /* With a right checksum, the sizes and the key must be judged by themselves. */
    uint8_t *copy = malloc(size);
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits(data + CHECKED_FROM, size - CHECKED_FROM));
    memcpy(copy + CHECKSUM_AT, &sum, sizeof sum);
    decode(copy, size);
    free(copy);
    return 0;
}
