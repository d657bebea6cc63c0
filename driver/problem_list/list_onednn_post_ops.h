/* Post-ops of oneDNN's convolutions. */
#ifndef KILN_LIST_ONEDNN_POST_OPS_H
#define KILN_LIST_ONEDNN_POST_OPS_H

#include "list_text.h"

/* Sets what o has of post-ops. Returns false, with none of them, where kiln cannot follow. */
bool onednn_read_post_ops(list_options *o, list_word value);

/* Whether there are any; their flags of kiln; and what of them kiln cannot follow with the other
 * options and a result of that type ("": f32), NULL where it can. */
bool onednn_has_post_ops(const list_options *o);
void onednn_post_op_flags(const list_options *o, char *text, size_t size);
const char *onednn_unfit_post_ops(const list_options *o, const char *result);

#endif
