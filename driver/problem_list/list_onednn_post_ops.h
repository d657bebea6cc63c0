/* Post-ops of oneDNN's convolutions. */
#ifndef KILN_LIST_ONEDNN_POST_OPS_H
#define KILN_LIST_ONEDNN_POST_OPS_H

#include "list_text.h"

/* Sets o->sum and o->activation. Returns false, with none of them, where kiln cannot follow. */
bool onednn_read_post_ops(list_options *o, list_word value);

#endif
