/* Asks the second peer for a time, and adds it to a row. */
#include "second_peer.h"

#include <stdlib.h>
#include <string.h>

void second_peer_start(peer *p)
{
    const char *script = getenv("BENCH_PEER");
    const bool there = peer_start(p, script ? script : "tests/bench/peers/pytorch.py");
    printf("%s: %s\n", there ? "second peer" : "no second peer", p->what);
}

/* The peer chooses among algorithms itself, and has no time of a single call that is waited for. */
static bool may_ask(const peer *p, const bench_class *class, const row *row)
{
    return p->process && class->rules.algorithm == RULES_ANY && !class->latency &&
           row->count < TURNS_CONTENDERS;
}

double second_peer_add(peer *p, const bench_class *class, const rules *rules, double seconds,
                       row *row)
{
    if (!may_ask(p, class, row))
        return 0;
    char problem[KILN_KEY_TEXT], line[KILN_KEY_TEXT + 64], form[200];
    kiln_problem_text(&row->work->problem, problem, sizeof problem);
    kiln_problem given = row->work->problem;
    rules_give_layouts(rules, &given);
    snprintf(line, sizeof line, "%g %s %s %s", seconds, given.x_layout,
             rules->filter ? rules->filter : "any", problem);
    const double ms = peer_time(p, line, form, sizeof form);
    if (ms <= 0) {
        printf("# %s: " SECOND_PEER ": %s\n", row->work->layer->name, form);
        return 0;
    }
    result *r = &row->result[row->count++];
    *r = (result){.name = SECOND_PEER,
                  .times = {.rounds = 1, .round = {ms}, .quiet = {true}, .ms = ms},
                  .ratio = ms / row->result[0].times.ms};
    memcpy(r->detail, form, sizeof form);
    return r->ratio;
}
