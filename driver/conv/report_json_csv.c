/* Reports on one problem in one direction as a JSON object or a CSV line. */
#include "driver/base/json_csv.h"

#include "report.h"

static void add_times(json_csv *j, const outcome *o)
{
    const timing *t = &o->time;
    bool timed = t->runs > 0;
    double work = timed ? reference_flops(&o->problem) / t->median / 1e6 : 0;
    double bytes = timed ? (problem_bytes(&o->problem, false) + problem_bytes(&o->problem, true)) /
                               t->median / 1e6
                         : 0;
    json_csv_real(j, "create_ms", o->planned, t->create);
    json_csv_count(j, "runs", true, t->runs);
    json_csv_real(j, "average_ms", timed, t->average);
    json_csv_real(j, "median_ms", timed, t->median);
    json_csv_real(j, "min_ms", timed, t->min);
    json_csv_real(j, "p95_ms", timed, t->p95);
    json_csv_real(j, "wall_ms", timed, t->wall);
    json_csv_real(j, "gflops", timed, work);
    json_csv_real(j, "gbs", timed, bytes);
    json_csv_real(j, "pack_ms", timed, t->pack);
}

static void add_verdict(json_csv *j, const outcome *o)
{
    const verify_result *v = &o->result;
    bool known = o->verified;
    bool ok = v->ok && (!o->has_bias || o->bias.ok);
    json_csv_words(j, "verify", true, !known ? "none" : ok ? "ok" : "failed");
    json_csv_count(j, "checked", known, v->checked);
    json_csv_count(j, "elements", known, v->total);
    json_csv_count(j, "wrong", known, v->bad);
    json_csv_real(j, "max_abs", known, v->max_abs);
    json_csv_count(j, "max_abs_at", known, v->max_abs_at);
    json_csv_real(j, "got", known, v->got);
    json_csv_real(j, "expected", known, v->expected);
    json_csv_real(j, "max_ulp", known, v->max_ulp);
    json_csv_real(j, "rms", known, v->rms);
    json_csv_real(j, "tolerance", known, v->tolerance);
    json_csv_real(j, "bound", known, v->bound);
    json_csv_real(j, "worst", known, v->worst);
    json_csv_words(j, "bias_verify", o->has_bias, o->bias.ok ? "ok" : "failed");
    json_csv_real(j, "bias_max_abs", o->has_bias, o->bias.max_abs);
}

static void fill(json_csv *j, const outcome *o, char *key, char *miopen)
{
    const kiln_op_info *i = &o->info;
    *key = *miopen = '\0';
    if (o->has_problem) {
        kiln_problem_text(&o->problem, key, KILN_KEY_TEXT);
        kiln_problem_miopen_key(&o->problem, miopen, KILN_KEY_TEXT);
    }
    json_csv_count(j, "schema", true, REPORT_SCHEMA);
    json_csv_words(j, "problem", o->has_problem, key);
    json_csv_words(j, "miopen_key", *miopen, miopen);
    json_csv_words(j, "device", true, o->device ? o->device : "none");
    json_csv_words(j, "solver", o->planned, i->solver);
    json_csv_count(j, "solver_id", o->planned, i->solver_id);
    json_csv_count(j, "algorithm", o->planned, i->algorithm);
    json_csv_words(j, "config", o->planned, i->config);
    json_csv_words(j, "origin", o->planned, o->planned ? origin_name(o) : "");
    json_csv_count(j, "workspace", o->planned, i->workspace_size);
    json_csv_real(j, "predicted_ms", o->planned, i->predicted_ms);
    add_times(j, o);
    add_verdict(j, o);
    json_csv_count(j, "status", true, outcome_exit(o));
    json_csv_words(j, "error", o->status != KILN_OK, o->error);
    json_csv_words(j, "repro", *o->repro, o->repro);
}

void report_json_csv(report_format format, const outcome *o)
{
    json_csv j = {.count = 0};
    char key[KILN_KEY_TEXT], miopen[KILN_KEY_TEXT];
    fill(&j, o, key, miopen);
    if (format == REPORT_JSON)
        json_csv_print_json(&j);
    else
        json_csv_print_csv(&j);
    fflush(stdout);
}
