/* Stands in for contender_onednn.c where oneDNN was not found. */
#include "contender_chain.h"

int contender_onednn_ways(void)
{
    return 0;
}

const char *contender_onednn_version(void)
{
    return NULL;
}

contender *contender_onednn(const work *w, const rules *r, int index, char *why)
{
    (void)w, (void)r, (void)index;
    *why = '\0';
    return NULL;
}

contender *contender_chain_onednn(const chain_net *net, char *why)
{
    (void)net;
    *why = '\0';
    return NULL;
}
