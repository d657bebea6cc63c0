/* Stands in for contender_clblast.c where CLBlast was not found. */
#include "contender.h"

const char *contender_clblast_version(void)
{
    return NULL;
}

contender *contender_clblast(const session *s, const work *w, char *why)
{
    (void)s, (void)w, (void)why;
    return NULL;
}
