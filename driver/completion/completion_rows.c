/* Reads the rows from the flag table, and from the help of words that have one of their own. */
#include "completion_rows.h"

#include "driver/base/flag_table.h"

#include <ctype.h>
#include <string.h>

static const char lower[] = "abcdefghijklmnopqrstuvwxyz-_0123456789";

const completion_row *completion_find(const completion_rows *rows, const char *word)
{
    const bool flag = word[0] == '-', named = flag && word[1] == '-';
    const char *name = named ? word + 2 : word;
    const size_t length = named ? strcspn(name, "=") : strlen(name);
    for (int i = 0; i < rows->count; i++) {
        const completion_row *r = &rows->row[i];
        if (flag && !named ? r->letter && r->letter == word[1] && !word[2]
                           : r->flag == named && strlen(r->name) == length &&
                                 strncmp(r->name, name, length) == 0)
            return r;
    }
    return NULL;
}

static completion_row *add(completion_rows *rows, completion_row row)
{
    if (rows->count == COMPLETION_ROWS)
        return NULL;
    rows->row[rows->count] = row;
    return &rows->row[rows->count++];
}

void completion_add_flags(completion_rows *rows)
{
    const int own = rows->count;
    for (int i = 0; i < flag_rows; i++) {
        const flag *f = &flag_table[i];
        bool there = false;
        for (int j = 0; j < own && !there; j++)
            there = rows->row[j].flag && strcmp(rows->row[j].name, f->name) == 0;
        if (!there)
            add(rows, (completion_row){f->letter, true, f->name, f->what, f->help});
    }
}

/* Ends the piece at *at, which is `length` long, and returns it; moves *at behind it and one
 * character more. */
static char *cut(char **at, size_t length)
{
    char *piece = *at;
    *at += length + (piece[length] != '\0');
    piece[length] = '\0';
    return piece;
}

/* Reads "-o, --output PAGE, --dim NAME=N   help", or "show LAYOUT   help". */
static void add_line(completion_rows *rows, char *at)
{
    const int first = rows->count;
    bool more = true;
    while (more) {
        completion_row row = {.what = "", .about = ""};
        if (at[0] == '-' && at[1] != '-' && strncmp(at + 2, ", --", 4) == 0) {
            row.letter = at[1];
            at += 4;
        }
        row.flag = strncmp(at, "--", 2) == 0;
        at += row.flag ? 2 : 0;
        const size_t length = strspn(at, lower);
        if (length == 0 || (at[length] && !strchr(" ,", at[length])))
            break;
        more = at[length] == ',';
        row.name = cut(&at, length);
        if (!more && *at && *at != ' ' && (row.flag || isupper((unsigned char)*at))) {
            size_t what = strcspn(at, " ,");
            while (at[what] == ',' && at[what + 1] != ' ') /* 2,3,5,7 is one value */
                what += 1 + strcspn(at + what + 1, " ,");
            more = at[what] == ',';
            row.what = cut(&at, what);
        }
        if (!more && *at && *at != ' ') { /* more values, which have no list */
            at += strcspn(at, " ");
            while (*at && strncmp(at, "  ", 2) != 0)
                at++;
        }
        at += strspn(at, " ");
        more = more && *at == '-';
        if (!add(rows, row))
            break;
    }
    for (int i = first; i < rows->count; i++)
        rows->row[i].about = at;
}

void completion_add_help(completion_rows *rows, char *help)
{
    while (*help && strncmp(help, "Example", 7) != 0 && strncmp(help, "Environment", 11) != 0) {
        char *line = cut(&help, strcspn(help, "\n"));
        const size_t indent = strspn(line, " ");
        completion_row *last = rows->count ? &rows->row[rows->count - 1] : NULL;
        if ((indent == 2 && (line[2] == '-' || islower((unsigned char)line[2]))) ||
            (indent == 6 && strncmp(line + 6, "--", 2) == 0))
            add_line(rows, line + indent);
        else if (indent >= 6 && last && !*last->about)
            last->about = line + indent;
    }
}
