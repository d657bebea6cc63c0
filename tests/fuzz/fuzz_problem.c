/* Fuzzes problem texts, MIOpen's keys and the check: an accepted problem must read back the same.
 */
#include "kiln_problem.h"

#include "fuzz.h"

static void round_trip(const kiln_problem *p)
{
    char text[KILN_KEY_TEXT], why[KILN_ERROR_TEXT];
    kiln_problem back;
    require(kiln_problem_text(p, text, sizeof text) < sizeof text);
    require(kiln_problem_parse(&back, text, why) == KILN_OK);
    require(memcmp(p, &back, sizeof back) == 0);
    if (kiln_problem_miopen_key(p, text, sizeof text) == 0)
        return;
    require(kiln_problem_parse(&back, text, why) == KILN_OK);
    require(back.direction == p->direction && back.groups == p->groups);
    require(kiln_problem_count(&back, 'y') == kiln_problem_count(p, 'y'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[KILN_ERROR_TEXT] = "";
    kiln_problem p;
    char *text = malloc(size + 1);
    require(text != NULL);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    if (kiln_problem_parse(&p, text, why) == KILN_OK)
        round_trip(&p);
    else
        require(why[0] && memchr(why, '\0', sizeof why));
    free(text);

    if (size < sizeof p) /* the same bytes as a kiln_problem */
        return 0;
    memcpy(&p, data, sizeof p);
    if (kiln_problem_check(&p, why) == KILN_OK)
        round_trip(&p);
    return 0;
}
