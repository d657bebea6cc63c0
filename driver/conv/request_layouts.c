/* Reads layouts from flags, by MIOpen's names or kiln's; finds the flag that named a wrong one. */
#include "request_layouts.h"

#include "kiln_layout.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* MIOpen writes the filter's layout with the letters of x: its NCHW is kiln's OIHW. */
static kiln_status set_layout(const char *flag, const char *value, bool filter, char *to, char *why)
{
    static const char *const plain[] = {"NCHW", "NCW", "NCDHW", "NCHWC", "NCHWc"};
    static const struct {
        const char *miopen, *kiln;
    } filters[] = {{"NHWC", "OHWI"}, {"NDHWC", "ODHWI"}};
    char name[KILN_LAYOUT_TEXT];
    if (strlen(value) >= sizeof name) {
        snprintf(why, KILN_ERROR_TEXT, "--%s is '%.60s', longer than %d letters", flag, value,
                 KILN_LAYOUT_TEXT - 1);
        return KILN_INVALID;
    }
    bool upper = strpbrk(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != NULL || strcmp(value, "any") == 0;
    for (size_t i = 0; i <= strlen(value); i++)
        name[i] = upper ? value[i] : (char)toupper((unsigned char)value[i]);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(name, plain[i]) == 0)
            *name = '\0';
    for (size_t i = 0; filter && i < sizeof filters / sizeof *filters; i++)
        if (strcmp(name, filters[i].miopen) == 0)
            memcpy(name, filters[i].kiln, strlen(filters[i].kiln) + 1);
    memcpy(to, name, sizeof name);
    return KILN_OK;
}

/* MIOpen's vectorized tensors have channels in blocks. With --tensor_vect y stays plain. */
static void set_vectors(const flags *f, kiln_problem *p)
{
    static const char *const data[] = {"NCW", "NCHW", "NCDHW"};
    static const char *const filter[] = {"OIW", "OIHW", "OIDHW"};
    const long long length = f->tensor_vect ? 4 : f->vector_length;
    const int i = p->spatial_rank - 1;
    if (length == 1)
        return;
    if (!*p->x_layout)
        snprintf(p->x_layout, KILN_LAYOUT_TEXT, "%s%lldc", data[i], length);
    if (!*p->w_layout)
        snprintf(p->w_layout, KILN_LAYOUT_TEXT, "%s%lldi", filter[i], length);
    if (!*p->y_layout && !f->tensor_vect)
        snprintf(p->y_layout, KILN_LAYOUT_TEXT, "%s%lldc", data[i], length);
}

kiln_status request_layouts(const flags *f, kiln_problem *p, char *why)
{
    kiln_status status = set_layout("in_layout", f->in_layout, false, p->x_layout, why);
    if (!status)
        status = set_layout("fil_layout", f->fil_layout, true, p->w_layout, why);
    if (!status)
        status = set_layout("out_layout", f->out_layout, false, p->y_layout, why);
    if (!status)
        set_vectors(f, p);
    return status;
}

void request_layouts_blame(const flags *f, const kiln_problem *p, char *why)
{
    static const struct {
        const char *flag;
        char letter, tensor;
    } named[] = {{"in_layout", 'I', 'x'},
                 {"fil_layout", 'f', 'w'},
                 {"out_layout", 'O', 'y'},
                 {"bias_layout", 0, 'b'}};
    char reason[KILN_ERROR_TEXT];
    kiln_storage storage;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        if (!flags_given(f, named[i].flag) ||
            kiln_problem_storage(p, named[i].tensor, &storage, reason) || strcmp(reason, why) != 0)
            continue;
        char letter[] = {' ', '(', '-', named[i].letter, ')', 0};
        snprintf(why, KILN_ERROR_TEXT, "--%s%s: %.180s; kiln layout list shows the layouts",
                 named[i].flag, named[i].letter ? letter : "", reason);
        return;
    }
}
