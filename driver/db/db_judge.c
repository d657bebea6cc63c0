/* Judges tuning rows by asking the library for the plan of the operation that each describes. */
#include "db_judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

kiln_status db_judge_open(kiln **k)
{
    const kiln_settings settings = {.cache_dir = "off", .rows_file = "off", .shipped_dir = "off"};
    kiln_status status = kiln_open(k, NULL, NULL, &settings);
    if (status)
        fprintf(stderr, "kiln db: %s\n", kiln_last_error());
    return status;
}

/* Asks the row's solver for a plan, with the row's config or without one. */
static kiln_status ask(kiln *k, const kiln_row *row, const char *config, kiln_op_info *info,
                       char *why)
{
    kiln_problem p;
    const kiln_choice choice = {.solver = row->solver, .config = config, .ignore_rows = 1};
    kiln_status status = kiln_problem_parse(&p, row->key, why);
    if (status)
        return status;
    status = kiln_conv_plan(k, &p, &choice, info);
    if (status)
        snprintf(why, KILN_ERROR_TEXT, "%.*s", KILN_ERROR_TEXT - 1, kiln_last_error());
    return status;
}

int db_solver_version(kiln *k, const kiln_row *row)
{
    static const kiln_problem tiny = {
        .batch = 1, .in_channels = 1, .out_channels = 1, .input = {1, 1}, .filter = {1, 1}};
    enum { MOST = 128 };
    static kiln_verdict known[MOST]; /* each solver's, whatever it takes on a device */
    static int n;
    while (n < MOST && kiln_explain(k, &tiny, n, &known[n]) == KILN_OK)
        n++;
    for (int i = 0; i < n; i++)
        if (strcmp(known[i].solver, row->solver) == 0)
            return known[i].solver_version;
    return 0;
}

bool db_solver_takes(kiln *k, const kiln_row *row, char why[KILN_ERROR_TEXT])
{
    kiln_op_info info;
    return ask(k, row, NULL, &info, why) == KILN_OK;
}

bool db_is_useless(kiln *k, const kiln_row *row)
{
    kiln_op_info info;
    kiln_problem p;
    char why[KILN_ERROR_TEXT];
    if (db_solver_version(k, row) != row->version)
        return true;
    if (kiln_problem_parse(&p, row->key, why))
        return false; /* whoever wrote it must mend it */
    const kiln_status status = ask(k, row, row->config, &info, why);
    return status == KILN_INVALID || (!status && !*row->config && *info.config);
}

typedef struct plan_hash {
    char text[40];
} plan_hash;

static void take_hash(void *user, const kiln_op *op)
{
    plan_hash *h = user;
    kiln_op_hash(op, h->text, sizeof h->text);
}

bool db_is_stale(kiln *k, const char *driver, const kiln_row *row, char why[KILN_ERROR_TEXT])
{
    kiln_problem p;
    plan_hash hash = {""};
    const kiln_choice choice = {
        .solver = row->solver, .config = *row->config ? row->config : NULL, .ignore_rows = 1};
    const int version = db_solver_version(k, row);
    if (version != row->version)
        snprintf(why, KILN_ERROR_TEXT, "of version %d of %s, now %d", row->version, row->solver,
                 version);
    else if (kiln_problem_parse(&p, row->key, why))
        return true;
    else if (kiln_conv_show(k, &p, &choice, take_hash, &hash))
        snprintf(why, KILN_ERROR_TEXT, "%.*s", KILN_ERROR_TEXT - 1, kiln_last_error());
    else if (*row->hash && strcmp(row->hash, hash.text) != 0)
        snprintf(why, KILN_ERROR_TEXT, "its templates have changed");
    else if (*row->driver && strcmp(row->driver, driver) != 0)
        snprintf(why, KILN_ERROR_TEXT, "measured with driver %.80s, now %.80s", row->driver,
                 driver);
    else
        return false;
    return true;
}

static db_verdict say(db_verdict verdict, char *why, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static db_verdict say(db_verdict verdict, char *why, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(why, KILN_ERROR_TEXT, format, list);
    va_end(list);
    return verdict;
}

static db_verdict judge_key(const kiln_row *row, char *why)
{
    char text[KILN_ERROR_TEXT], key[KILN_KEY_TEXT];
    kiln_problem p;
    if (kiln_problem_parse(&p, row->key, text))
        return say(DB_ERROR, why, "the key %.60s: %.150s", row->key, text);
    kiln_problem_row_key(&p, key, sizeof key);
    if (strcmp(key, row->key) != 0)
        return say(DB_ERROR, why, "the key is never looked up; write %.180s", key);
    return DB_GOOD;
}

static db_verdict judge_config(kiln *k, const kiln_row *row, const char *device, char *why)
{
    kiln_op_info info;
    char text[KILN_ERROR_TEXT];
    kiln_status status = ask(k, row, row->config, &info, text);
    /* Without a device kiln assumes small limits; the device of the file may have larger ones. */
    if (status == KILN_UNSUPPORTED && strcmp(device, "any") != 0)
        return say(DB_NOTE, why, "not on every device: %.200s", text);
    if (status)
        return say(DB_ERROR, why, "%.220s", text);
    if (strcmp(info.config, row->config) != 0)
        return say(DB_ERROR, why, "the config \"%.60s\" is not the list of all values, like %.120s",
                   row->config, info.config);
    if (!info.deterministic)
        return say(DB_NOTE, why,
                   "its result may vary between runs, so only problems that allow "
                   "this use it");
    return DB_GOOD;
}

db_verdict db_judge(kiln *k, const kiln_row *row, const char *device, char why[KILN_ERROR_TEXT])
{
    kiln_op_info info;
    char text[KILN_ERROR_TEXT];
    db_verdict verdict = judge_key(row, why);
    if (verdict)
        return verdict;
    kiln_status status = ask(k, row, NULL, &info, text);
    if (status)
        return say(status == KILN_UNSUPPORTED && strcmp(device, "any") != 0 ? DB_NOTE : DB_ERROR,
                   why, "%.220s", text);
    if (strcmp(info.solver, row->solver) != 0)
        return say(DB_ERROR, why, "the solver must be named %s, not %s", info.solver, row->solver);
    if (info.solver_version != row->version)
        return say(DB_NOTE, why, "of version %d of solver %s, now %d: not used; prune drops it",
                   row->version, row->solver, info.solver_version);
    return judge_config(k, row, device, why);
}
