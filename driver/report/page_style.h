/* What every page has in its head and at its end. */
#ifndef KILN_PAGE_STYLE_H
#define KILN_PAGE_STYLE_H

extern const char page_style[], page_script[];

#endif
