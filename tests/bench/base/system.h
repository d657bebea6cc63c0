/* What the system tells of itself. */
#ifndef BENCH_SYSTEM_H
#define BENCH_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>

/* Reads the value after "KEY...:" in one of the system's tables, "/proc/cpuinfo" say. Returns false
 * where the table has no such entry. */
bool system_entry(const char *file, const char *key, char *text, size_t size);

/* Returns the bytes of memory that are available; HUGE_VAL where the system does not tell. */
double system_free_memory(void);

#endif
