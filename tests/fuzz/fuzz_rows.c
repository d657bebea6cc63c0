/* Fuzzes files of tuning rows: the pieces make up the file, and no string overruns its field. */
#include "runtime/rows/rows.h"

#include "fuzz.h"

typedef struct seen {
    const char *at;
    int64_t line;
} seen;

static void check_piece(void *user, const kiln_rows_piece *p)
{
    seen *s = user;
    require(p->text == s->at && p->line == s->line && p->length > 0);
    s->at += p->length;
    for (size_t i = 0; i < p->length; i++)
        s->line += p->text[i] == '\n';
    require((p->kind == KILN_ROWS_ROW) == (p->row != NULL));
    if (p->kind == KILN_ROWS_BAD)
        require(p->why && *p->why);
    if (!p->row)
        return;
    const kiln_row *row = p->row;
    require(*row->key && memchr(row->key, 0, sizeof row->key));
    require(*row->solver && memchr(row->solver, 0, sizeof row->solver));
    require(memchr(row->config, 0, sizeof row->config) && memchr(row->hash, 0, sizeof row->hash));
    require(memchr(row->driver, 0, sizeof row->driver) && memchr(row->date, 0, sizeof row->date));
    require(row->version >= 0 && row->runs >= 0 && row->ms >= 0 && row->iqr >= 0);
    require(memchr(row->guess, 0, sizeof row->guess) && row->turns >= 0 && row->turns_won >= 0);
    char why[KILN_ERROR_TEXT];
    if (kiln_row_wins(row, why))
        require(!*why && row->turns >= row->turns_won && row->ms < row->guess_ms);
    else
        require(*why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    seen s = {.at = (const char *)data, .line = 1};
    kiln_rows_pieces((const char *)data, size, check_piece, &s);
    require(s.at == (const char *)data + size);
    return 0;
}
