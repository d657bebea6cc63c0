/* Fuzzes problem lists: every line gives a legal problem or a sentence. */
#include "driver/problem_list/problem_list.h"

#include "fuzz.h"

static void check_entry(list_kind kind, list_entry *e, size_t length)
{
    char why[KILN_ERROR_TEXT];
    require(memchr(e->name, '\0', sizeof e->name) != NULL && e->repeat >= 1);
    require(e->begin <= e->end && e->end <= length && e->rest <= length);
    require(memchr(e->flags, '\0', sizeof e->flags) && memchr(e->note, '\0', sizeof e->note));
    if (kind == LIST_BAD)
        fuzz_check_why(e->why, sizeof e->why);
    if (kind == LIST_SHAPE || kind == LIST_PROBLEM)
        require(kiln_problem_check(&e->problem, why) == KILN_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static fuzz_text room;
    if (size > FUZZ_MOST)
        return 0;
    list_reader reader = {0};
    for (char *text = fuzz_text_of(&room, data, size); *text;) {
        list_entry entry;
        const char *line = fuzz_next_line(&text);
        check_entry(list_read(&reader, line, &entry), &entry, strlen(line));
    }
    return 0;
}
