/* The folder in which PoCL keeps compiled kernels. */
#ifndef KILN_POCL_CACHE_H
#define KILN_POCL_CACHE_H

#include <stddef.h>

/* Gives PoCL a temporary folder, which goes when the process exits (children end by _exit()), where
 * it could not make its own or would make it in the current directory. To be called before the
 * first call of OpenCL; further calls do nothing. */
void pocl_cache_prepare(void);

/* Returns what was the matter with PoCL's own folder, a sentence; NULL: nothing. */
const char *pocl_cache_trouble(void);

/* Writes the folder that PoCL keeps compiled kernels in; "": unknown. Returns path. */
const char *pocl_cache_folder(char *path, size_t size);

#endif
