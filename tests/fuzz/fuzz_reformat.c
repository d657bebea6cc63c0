/* Fuzzes reformats, from names of layouts up to the plan, and from any bytes as the struct.
 *
 * The input: device, limits, types, six sizes, a byte each, then lines: dims, from, to. */
#include "generator/plan/reformat.h"

#include "plan_check.h"

static void plan_reformat(kiln_reformat *r, const kiln_device_facts *d)
{
    static kiln_plan plan;
    kiln_storage from, to;
    char why[KILN_ERROR_TEXT] = "";
    if (kiln_reformat_check(r, &from, &to, why)) {
        fuzz_check_why(why, sizeof why);
        return;
    }
    if (kiln_reformat_plan(r, &from, &to, d, &plan, why))
        fuzz_check_plan(&plan, NULL, d);
    else
        fuzz_check_why(why, sizeof why);
}

/* Cuts a text that is too long: the struct has no room for it. */
static void take(char *to, size_t size, const char *text)
{
    memcpy(to, text, strnlen(text, size - 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static fuzz_text room;
    if (size > FUZZ_MOST)
        return 0;
    kiln_reformat r = {0};
    fuzz_bytes b = {data, size};
    const int kind = fuzz_byte(&b), limits = fuzz_byte(&b), types = fuzz_byte(&b);
    const kiln_device_facts d = fuzz_device(kind, limits);
    r.from_type = (kiln_type)(types % 7);
    r.to_type = (kiln_type)(types / 7 % 7);
    r.pad_value = types & 128 ? -1e30 : 0;
    for (int i = 0; i < KILN_MAX_DIMS; i++) {
        const int byte = fuzz_byte(&b);
        r.size[i] = byte < 192 ? byte : (int64_t)1 << byte % 63;
    }
    char *text = fuzz_text_of(&room, b.at, b.left);
    take(r.dims, sizeof r.dims, fuzz_next_line(&text));
    take(r.from, sizeof r.from, fuzz_next_line(&text));
    take(r.to, sizeof r.to, fuzz_next_line(&text));
    plan_reformat(&r, &d);
    if (size < sizeof r)
        return 0;
    memcpy(&r, data, sizeof r);
    plan_reformat(&r, &d);
    return 0;
}
