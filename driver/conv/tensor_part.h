/* One of the arrays that a problem needs, with its places on the host and on the device. */
#ifndef KILN_TENSOR_PART_H
#define KILN_TENSOR_PART_H

#include "driver/base/session.h"
#include "driver/layout/layout_host.h"

#include "request.h"

typedef struct tensor_part {
    char tensor; /* 'x', 'w', 'y', 'b' (bias) or 'r' (residual) */
    int fill;    /* HOST_X, ... */
    void **host; /* in plain order */
    kiln_buffer *buffer;
    kiln_type type;   /* of the host's array */
    kiln_type stored; /* on the device; only a bias may have another one */
    int64_t count;
    const kiln_storage *storage; /* on the device */
    const char *file, *flag;     /* "": none */
    bool used, written;
} tensor_part;

/* Returns the bytes on the device. */
size_t tensor_part_bytes(const tensor_part *a);

/* Returns whether the contents come from a file. */
bool tensor_part_from_file(const tensor_part *a);
/* Returns KILN_FILE with a sentence in `why` where the file has not as many bytes as the tensor. */
kiln_status tensor_part_check_file(const tensor_part *a, char *why);

/* Makes the memory object and fills it: a source from its file or as the request says, for sums of
 * `terms` products; a destination with poison. Without on_host, *a->host stays NULL. */
kiln_status tensor_part_make(const session *s, const request *r, bool on_host, int64_t terms,
                             const tensor_part *a, char *why);

/* Overwrites the tensor on the device with poison, its padding too. */
cl_int tensor_part_poison(const session *s, const tensor_part *a);

/* Copies a tensor from the device, from its layout to plain order. Adds the number of cells of
 * padding that are not zero to *dirty. */
cl_int tensor_part_download(const session *s, const tensor_part *a, int64_t *dirty);

#endif
