/* Reads, joins and weighs the problems to be tuned. */
#include "tune_list.h"

#include "driver/base/session.h"
#include "driver/conv/report.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* What the visit of each line needs. */
typedef struct reading {
    tune_list *list;
    const tune_options *options;
    kiln *kiln;   /* plans without a device; NULL: costs are unknown */
    size_t *slot; /* of a hash of an item's name: its index plus 1; 0: none */
    size_t slots;
} reading;

static bool is_listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && strncmp(at, name, length) == 0)
            return true;
    return false;
}

static kiln_status check_types(const char *list, char *why)
{
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
        const size_t length = strcspn(at, ",");
        char name[16];
        kiln_type type;
        snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : 0, at);
        if (!kiln_type_named(name, &type) || !request_word_of(type)) {
            snprintf(why, KILN_ERROR_TEXT,
                     "--types has '%.*s'; it must be f32, f16, bf16, i8, f8e4m3 or "
                     "f8e5m2",
                     (int)(length < 60 ? length : 60), at);
            return KILN_INVALID;
        }
    }
    return KILN_OK;
}

/* Finds an unknown name before the searches, each of which would stumble over it. */
static kiln_status check_solvers(kiln *k, const char *list, char *why)
{
    const kiln_problem tiny = {
        .batch = 1, .in_channels = 1, .out_channels = 1, .input = {1, 1}, .filter = {1, 1}};
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
        char name[64];
        kiln_op_info info;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        const kiln_choice choice = {.solver = name, .ignore_rows = 1};
        if (k && kiln_conv_plan(k, &tiny, &choice, &info) == KILN_INVALID) {
            snprintf(why, KILN_ERROR_TEXT, "--solvers: %.*s", KILN_ERROR_TEXT - 16,
                     kiln_last_error());
            return KILN_INVALID;
        }
    }
    return KILN_OK;
}

static double predicted_ms(kiln *k, const kiln_problem *p)
{
    const kiln_choice choice = {.ignore_rows = 1};
    kiln_op_info info;
    return k && kiln_conv_plan(k, p, &choice, &info) == KILN_OK ? info.predicted_ms : 0;
}

/* Returns the slot of the name: its item's, or a free one. */
static size_t *slot_of(const reading *r, const char *name)
{
    for (size_t i = (size_t)XXH3_64bits(name, strlen(name));; i++) {
        size_t *slot = &r->slot[i & (r->slots - 1)];
        if (*slot == 0 || strcmp(r->list->item[*slot - 1].name, name) == 0)
            return slot;
    }
}

/* Makes room for more items. There are twice as many slots as items. */
static bool grow(reading *r)
{
    tune_list *list = r->list;
    const size_t room = list->room ? list->room * 2 : 64;
    tune_item *more = realloc(list->item, room * sizeof *more);
    if (more)
        list->item = more;
    size_t *slot = more ? calloc(room * 2, sizeof *slot) : NULL;
    if (!slot)
        return false;
    free(r->slot);
    r->slot = slot;
    r->slots = room * 2;
    list->room = room;
    for (size_t i = 0; i < list->count; i++)
        *slot_of(r, list->item[i].name) = i + 1;
    return true;
}

/* Returns the item of that name, with a name and nothing else where it is new; NULL: out of memory.
 */
static tune_item *item_of(reading *r, const char *name)
{
    tune_list *list = r->list;
    if (list->count == list->room && !grow(r)) {
        list->no_memory = true;
        return NULL;
    }
    size_t *slot = slot_of(r, name);
    if (*slot == 0) {
        tune_item *item = &list->item[list->count++];
        *item = (tune_item){.count = 0};
        snprintf(item->name, sizeof item->name, "%s", name);
        *slot = list->count;
    }
    return &list->item[*slot - 1];
}

/* Adds one direction of a request. */
static void add_direction(reading *r, const request *whole, kiln_direction direction, int repeat)
{
    kiln_problem p;
    char why[KILN_ERROR_TEXT], name[KILN_KEY_TEXT];
    if (request_problem(whole, direction, &p, why))
        return;
    kiln_problem_text(&p, name, sizeof name);
    tune_item *item = item_of(r, name);
    if (!item)
        return;
    if (item->count == 0) {
        item->request = *whole;
        item->direction = direction;
        item->problem = p;
        item->request.flags.search = 1; /* the tensors are needed on the host */
        item->cost = predicted_ms(r->kiln, &p);
    }
    item->count += repeat;
}

static void add_request(reading *r, const request *whole, int repeat)
{
    for (int d = KILN_FORWARD; d <= KILN_BACKWARD_WEIGHTS; d++)
        if (request_wants(whole, (kiln_direction)d))
            add_direction(r, whole, (kiln_direction)d, repeat);
}

static void refuse(tune_list *list, const request_list_item *item)
{
    fprintf(stderr, "kiln tune: %.255s line %lld: %s\n", item->file, item->number, item->why);
    list->refused++;
    list->worst = worse_exit(list->worst, (int)item->status);
}

/* Keeps what the request points into. */
static bool keep_text(tune_list *list, request_list_item *item)
{
    if (list->texts == list->texts_room) {
        const size_t room = list->texts_room ? list->texts_room * 2 : 64;
        char **more = realloc(list->text, room * sizeof *more);
        list->no_memory = list->no_memory || !more;
        if (!more)
            return false;
        list->text = more;
        list->texts_room = room;
    }
    list->text[list->texts++] = item->text;
    item->text = NULL;
    return true;
}

static bool take(void *user, request_list_item *item)
{
    reading *r = user;
    const char *wanted = r->options->types;
    if (item->status) {
        refuse(r->list, item);
        return true;
    }
    if (*item->entry->note)
        fprintf(stderr, "kiln tune: %.255s line %lld: not followed: %s\n", item->file, item->number,
                item->entry->note);
    if (!keep_text(r->list, item))
        return false;
    if (!*wanted)
        add_request(r, &item->request, item->entry->repeat);
    for (int t = KILN_F32; *wanted && t < KILN_TYPES; t++) {
        request one = item->request;
        if (!is_listed(wanted, kiln_type_name((kiln_type)t)))
            continue;
        if (one.source == REQUEST_KEY && one.base.x_type != (kiln_type)t)
            continue; /* the name of a problem says its type */
        one.type = (kiln_type)t;
        one.word = request_word_of(one.type);
        add_request(r, &one, item->entry->repeat);
    }
    return !r->list->no_memory;
}

kiln_status tune_list_read(tune_list *list, const tune_options *o, const request *defaults,
                           const char *const *files, int nfiles, char *why)
{
    session dry;
    reading r = {.list = list, .options = o};
    *list = (tune_list){.count = 0};
    kiln_status status = check_types(o->types, why);
    if (status)
        return status;
    if (session_open_dry(&dry, why) == KILN_OK)
        r.kiln = dry.kiln;
    status = check_solvers(r.kiln, o->solvers, why);
    bool whole = !status;
    for (int i = 0; i < nfiles && whole; i++)
        list->worst = worse_exit(list->worst, (int)request_list_read("", files[i], defaults, take,
                                                                     &r, &list->skipped, &whole));
    if (r.kiln)
        session_close(&dry);
    free(r.slot);
    if (status)
        return status;
    if (list->no_memory) {
        snprintf(why, KILN_ERROR_TEXT, "out of memory for the list of problems");
        return KILN_NO_MEMORY;
    }
    if (list->count)
        return KILN_OK;
    request_list_none(defaults, why);
    const size_t n = strlen(why);
    if (*o->types)
        snprintf(why + n, KILN_ERROR_TEXT - n, "; --types is '%.100s'", o->types);
    return list->worst ? (kiln_status)list->worst : KILN_INVALID;
}

void tune_list_free(tune_list *list)
{
    for (size_t i = 0; i < list->texts; i++)
        free(list->text[i]);
    free(list->text);
    free(list->item);
    *list = (tune_list){.count = 0};
}
