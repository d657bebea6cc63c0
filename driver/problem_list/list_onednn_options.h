/* What the options of oneDNN's log and of benchdnn ask for, and the flags of kiln that do the same.
 */
#ifndef KILN_LIST_ONEDNN_OPTIONS_H
#define KILN_LIST_ONEDNN_OPTIONS_H

#include "list_text.h"

/* Tensors in the order of benchdnn's --dt. */
enum { ONEDNN_SRC, ONEDNN_WEI, ONEDNN_DST, ONEDNN_BIA };

/* Each adds what `value` says to the options; names what kiln cannot follow in the note. */
void onednn_set_type(list_options *o, int tensor, list_word value);
void onednn_set_tag(list_options *o, int tensor, list_word value);
void onednn_set_algorithm(list_options *o, list_word value);
/* `whole` is the option with its value, for the note. */
void onednn_set_post_ops(list_options *o, list_word value, list_word whole);

/* Adds an option that kiln does not follow to the note. */
void onednn_note(list_options *o, list_word option);

/* Returns true for "--dir=..." and the like: options of benchdnn's convolutions. */
bool onednn_is_option(list_word word);

/* Reads one such option; every other one goes into the note. */
void onednn_read_option(list_word word, list_options *o);

/* Sets entry->flags, note and the batch from the options. Returns LIST_SHAPE, or LIST_BAD where
 * kiln lacks the types. */
list_kind onednn_finish(const list_options *o, list_entry *entry);

#endif
