/* What the checks of `kiln doctor` find, and how a check tells it. */
#ifndef KILN_FINDING_H
#define KILN_FINDING_H

#include <stdbool.h>

typedef enum verdict { FOUND_OK = 0, FOUND_WARNING, FOUND_BAD } verdict;

/* Goes through a pipe in one piece: smaller than PIPE_BUF. */
typedef struct finding {
    verdict verdict;
    char check[24], device[24]; /* device: "0:0"; "" where it is about none */
    char value[900], remedy[400];
} finding;

typedef struct check check;

/* One run of a check. */
typedef struct call {
    const check *check;
    const char *device; /* as --device takes it; "" where the check is not for each device */
    int to;
} call;

struct check {
    const char *name;
    void (*run)(const call *c);
    const char *remedy; /* of what is not ok, unless the check knows a better one; NULL: none */
    bool each_device;
};

/* Tells a finding. `remedy` NULL: the check's. */
void tell(const call *c, verdict v, const char *remedy, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The checks. devices.c */
void check_devices(const call *c); /* one finding for each device, with its name */
void check_device(const call *c);
void check_rows(const call *c);
void check_convolution(const call *c); /* its name is the word of a type: "convfp16" */
/* machine.c */
void check_system(const call *c);
void check_settings(const call *c);
void check_nodes(const call *c);
/* drivers.c */
void check_loader(const call *c);
void check_icds(const call *c);
void check_nvidia(const call *c);
/* caches.c */
void check_cache(const call *c);
void check_pocl_cache(const call *c);

#endif
