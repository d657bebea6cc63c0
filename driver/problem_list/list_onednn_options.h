/* What the options of oneDNN's log and of benchdnn ask for. */
#ifndef KILN_LIST_ONEDNN_OPTIONS_H
#define KILN_LIST_ONEDNN_OPTIONS_H

#include "list_text.h"

/* Tensors in the order of benchdnn's --dt. */
enum { ONEDNN_SRC, ONEDNN_WEI, ONEDNN_DST, ONEDNN_BIA };

/* Returns true for "--dir=..." and the like: options of benchdnn's convolutions. */
bool onednn_is_option(list_word word);

/* Read "--alg=direct" of benchdnn, and "alg:convolution_direct" or "attr-fpmath:bf16" of the log.
 * What kiln cannot follow joins o->unfollowed, until the option is given again. */
void onednn_read_option(list_options *o, list_word word);
void onednn_read_log_option(list_options *o, list_word word);

/* Set what the log says of a tensor. */
void onednn_set_type(list_options *o, int tensor, list_word value);
void onednn_set_tag(list_options *o, int tensor, list_word value);

/* Returns an option that has several values; NULL: none has. */
const char *onednn_several(const list_options *o);

#endif
