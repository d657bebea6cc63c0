/* Fuzzes lines of --json that a report reads: texts end within their fields, numbers are finite,
 * and what is printed of them is plain text. */
#include "driver/report/flat_json.h"
#include "driver/report/html.h"

#include "fuzz.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_text t;
    char word[24] = "", *page = NULL;
    double number = 0;
    size_t length = 0;
    const flat_json_field fields[] = {{"problem", word, sizeof word, NULL},
                                      {"ms", NULL, 0, &number}};
    if (size > FUZZ_MOST)
        return 0;
    flat_json_read(fuzz_text_of(&t, data, size), fields, sizeof fields / sizeof *fields);
    require(memchr(word, '\0', sizeof word) && isfinite(number));
    FILE *to = open_memstream(&page, &length);
    require(to != NULL);
    html_text(to, word);
    fclose(to);
    require(strcspn(page, "<>\"'") == length);
    for (size_t i = 0; i < length; i++)
        require((unsigned char)page[i] >= ' ' && page[i] != 0x7f);
    free(page);
    return 0;
}
