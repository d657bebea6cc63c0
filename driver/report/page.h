/* The page of `kiln report`: one file of HTML with its pictures inside, and nothing from elsewhere.
 *
 * It is also well-formed XML. All colours are in its style, for light and dark screens, and are
 * told apart without colour, too: by shape, by dashes, by words.
 */
#ifndef KILN_PAGE_H
#define KILN_PAGE_H

#include "report_read.h"

/* What the page is made of. */
typedef struct page {
    FILE *to;
    const report_data *data;
    const report_file *file;
    int files;
    const report_file *before; /* the older files that layers are compared with */
    int befores;
} page;

void page_write(const page *p);

#endif
