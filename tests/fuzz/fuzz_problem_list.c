/* Fuzzes problem lists: every line gives a legal problem or a sentence. */
#include "driver/problem_list/problem_list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_entry(list_kind kind, list_entry *e, size_t length)
{
    char why[KILN_ERROR_TEXT];
    require(memchr(e->name, '\0', sizeof e->name) != NULL && e->repeat >= 1);
    require(e->begin <= e->end && e->end <= length && e->rest <= length);
    require(memchr(e->flags, '\0', sizeof e->flags) && memchr(e->note, '\0', sizeof e->note));
    if (kind == LIST_BAD)
        require(e->why[0] && memchr(e->why, '\0', sizeof e->why));
    if (kind == LIST_SHAPE || kind == LIST_PROBLEM)
        require(kiln_problem_check(&e->problem, why) == KILN_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    require(text != NULL);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    list_reader reader = {0};
    for (char *line = text, *end; line; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        list_entry entry;
        check_entry(list_read(&reader, line, &entry), &entry, strlen(line));
    }
    free(text);
    return 0;
}
