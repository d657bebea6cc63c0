/* Fuzzes layout specs: of every layout that is taken, text, cells and coordinates fit together.
 *
 * The input: one byte for the type, one for each of six sizes, then lines: spec, dims, profile. */
#include "kiln_layout.h"

#include "fuzz.h"

enum { MOST_CELLS_COUNTED = 512, SAMPLES = 32 };

static void check_text(const kiln_layout *layout, const char *text)
{
    kiln_layout back;
    char why[KILN_ERROR_TEXT];
    require(kiln_layout_parse(&back, text, layout->dims, why));
    require(strcmp(back.spec, layout->spec) == 0 && back.naxes == layout->naxes);
    require(memcmp(back.axis, layout->axis, sizeof back.axis) == 0);
    require(memcmp(back.round, layout->round, sizeof back.round) == 0);
    require(memcmp(back.round_bytes, layout->round_bytes, sizeof back.round_bytes) == 0);
    require(memcmp(back.sizes, layout->sizes, sizeof back.sizes) == 0);
    require(back.image == layout->image && back.row_end == layout->row_end &&
            back.col_end == layout->col_end);
}

static void check_layout(const kiln_layout *l)
{
    require(l->ndims >= 1 && l->ndims <= KILN_MAX_DIMS && strlen(l->dims) == (size_t)l->ndims);
    require(l->naxes >= 1 && l->naxes <= KILN_MAX_AXES);
    for (int i = 0; i < l->naxes; i++) {
        require(l->axis[i].dim >= 0 && l->axis[i].dim < l->ndims);
        require(l->axis[i].div >= 1 && l->axis[i].mod >= 0);
    }
    for (int i = 0; i < l->ndims; i++)
        require(l->round[i] >= 1);
    if (l->image)
        require(0 <= l->row_end && l->row_end <= l->col_end && l->col_end <= l->naxes);
    check_text(l, l->spec);
    check_text(l, l->name);
}

/* Returns whether the cell holds an element. */
static bool check_cell(const kiln_storage *s, int64_t cell)
{
    int64_t coordinate[KILN_MAX_DIMS] = {0};
    if (!kiln_storage_coordinate(s, cell, coordinate))
        return false;
    for (int i = 0; i < s->layout.ndims; i++)
        require(coordinate[i] >= 0 && coordinate[i] < s->dim[i]);
    require(kiln_storage_offset(s, coordinate) == cell);
    return true;
}

static void check_storage(const kiln_storage *s, kiln_type type, const char *profile)
{
    char text[KILN_EXPRESSION_TEXT], brief[8], why[KILN_ERROR_TEXT] = "";
    const int64_t elements = kiln_storage_elements(s);
    int64_t found = 0;
    require(elements >= 1 && elements <= s->cells);
    if (s->cells <= MOST_CELLS_COUNTED) {
        for (int64_t cell = 0; cell < s->cells; cell++)
            found += check_cell(s, cell);
        require(found == elements);
    } else {
        for (int64_t i = 0; i < SAMPLES; i++)
            check_cell(s, s->cells / SAMPLES * i + i % 7);
        check_cell(s, s->cells - 1);
    }
    for (int i = 0; i < s->layout.ndims; i++) {
        require(kiln_storage_stride(s, i) >= -1);
        const size_t needed = kiln_storage_inverse(s, i, text, sizeof text);
        require(kiln_storage_inverse(s, i, brief, sizeof brief) == needed);
        require(needed >= sizeof text || strlen(text) == needed);
    }
    for (const char *part = s->layout.image ? "xyl" : "o"; *part; part++)
        require(kiln_storage_expression(s, *part, text, sizeof text) > 0);
    if (s->layout.image)
        require(s->width >= 1 && s->height >= 1);
    if (!kiln_profile_accepts(profile, s, type, why))
        fuzz_check_why(why, sizeof why);
}

static int64_t size_of(int byte)
{
    return byte < 128 ? byte : (int64_t)1 << byte % 63;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static fuzz_text room;
    fuzz_bytes bytes = {data, size};
    int64_t dim[KILN_MAX_DIMS];
    if (size > FUZZ_MOST)
        return 0;
    const kiln_type type = (kiln_type)(KILN_F32 + fuzz_byte(&bytes) % 5);
    for (int i = 0; i < KILN_MAX_DIMS; i++)
        dim[i] = size_of(fuzz_byte(&bytes));
    char *text = fuzz_text_of(&room, bytes.at, bytes.left), why[KILN_ERROR_TEXT] = "";
    const char *spec = fuzz_next_line(&text), *dims = fuzz_next_line(&text);
    const char *profile = fuzz_next_line(&text);
    kiln_layout layout;
    kiln_storage storage;
    if (!kiln_layout_parse(&layout, spec, *dims ? dims : NULL, why)) {
        fuzz_check_why(why, sizeof why);
        return 0;
    }
    check_layout(&layout);
    if (kiln_storage_make(&storage, &layout, dim, type, why))
        check_storage(&storage, type, profile);
    else
        fuzz_check_why(why, sizeof why);
    return 0;
}
