/* One of the arrays that a problem needs, with its places on the host and on the device. */
#ifndef KILN_TENSOR_PART_H
#define KILN_TENSOR_PART_H

#include "driver/layout/layout_host.h"
#include "driver/session.h"

#include "request.h"

typedef struct tensor_part {
    char tensor; /* 'x', 'w', 'y', 'b'ias or 'r'esidual */
    int fill;    /* HOST_X, ... */
    void **host; /* plain */
    kiln_buffer *buffer;
    kiln_type type;   /* of the host's array */
    kiln_type stored; /* on the device: the same, but of a bias */
    int64_t count;
    const kiln_storage *storage; /* on the device */
    const char *file, *flag;     /* "": none */
    bool used, written;
} tensor_part;

/* Bytes on the device. */
size_t tensor_part_bytes(const tensor_part *a);

/* Whether its file is read, and whether that has as many bytes as it needs. */
bool tensor_part_from_file(const tensor_part *a);
kiln_status tensor_part_check_file(const tensor_part *a, char *why);

/* Makes the memory object and fills it: a source from its file or as the request says, for sums of
 * `terms` products, a destination with poison. *a->host stays NULL unless on_host. */
kiln_status tensor_part_make(const session *s, const request *r, bool on_host, int64_t terms,
                             const tensor_part *a, char *why);

/* All tensors go to the device and come back through these two: in plain order here, in their
 * layout there. A destination is poison there, padding included; *dirty counts the cells of its
 * padding that come back other than zero. */
cl_int tensor_part_upload(const session *s, const tensor_part *a);
cl_int tensor_part_download(const session *s, const tensor_part *a, int64_t *dirty);

#endif
