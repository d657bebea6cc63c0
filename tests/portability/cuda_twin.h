/* A kernel's launch by CUDA's driver, from PTX: the half of cuda_twin that speaks CUDA. */
#ifndef KILN_CUDA_TWIN_H
#define KILN_CUDA_TWIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct twin_arg {
    const void *value; /* of a plain argument */
    size_t bytes;      /* of a buffer; 0: a plain argument */
    void *contents;    /* of a buffer, before and after the launch */
    int copy_of;       /* the argument that has this one's buffer; itself, mostly */
    uint64_t address;  /* of the copy, told by twin_launch() */
} twin_arg;

/* Launches `name` of the PTX and waits for it. False, with the reason, where that did not go. */
bool twin_launch(const char *ptx, const char *name, const size_t groups[3], const size_t items[3],
                 twin_arg *args, unsigned count, char why[256]);

#endif
