/* Fuzzes tuning rows up to their plans: two bytes choose a device, what follows is a file of rows.
 * A row's config is refused with a reason, or its plan keeps the invariants. */
#include "runtime/rows/rows.h"

#include "plan_check.h"

enum { MOST_ROWS = 4 };

typedef struct use {
    kiln_device_facts device;
    int rows;
} use;

static void plan_row(void *user, const kiln_rows_piece *piece)
{
    use *u = user;
    char why[KILN_ERROR_TEXT] = "";
    kiln_why refusal = {.text = ""};
    kiln_problem p;
    kiln_config c = {{0}};
    if (piece->kind != KILN_ROWS_ROW || u->rows++ >= MOST_ROWS)
        return;
    if (kiln_problem_parse(&p, piece->row->key, why)) {
        fuzz_check_why(why, sizeof why);
        return;
    }
    const kiln_solver *solver = kiln_solver_named(piece->row->solver);
    if (!solver) /* the version is not looked at: it would hide the configs */
        return;
    if (kiln_config_parse(solver, piece->row->config, &c, &refusal))
        fuzz_plan_config(solver, &p, &u->device, &c, false);
    else
        fuzz_check_why(refusal.text, sizeof refusal.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes b = {data, size};
    if (size > 2 * FUZZ_MOST)
        return 0;
    const int kind = fuzz_byte(&b), limits = fuzz_byte(&b);
    use u = {.device = fuzz_device(kind, limits)};
    kiln_rows_pieces((const char *)b.at, b.left, plan_row, &u);
    return 0;
}
