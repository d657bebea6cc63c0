/* Fits: the numbers of predictions that were found by measuring, as structs of named doubles that
 * say where they come from. docs/fitting.md tells how to fit them for another device.
 *
 * A family has them in NAME_fit.h, which one file of the family includes:
 *
 *     #define KILN_GEMV_FIT(NUMBER)                                       \
 *         NUMBER(begin_ms, "ms, of a launch")                             \
 *         NUMBER(warp, "cycles of a unit for 32 items, whatever they do")
 *     KILN_FIT_STRUCT(kiln_gemv_numbers, KILN_GEMV_FIT);
 *
 *     static const kiln_fit gemv_fit = {
 *         .name = "gemv", .device = "NVIDIA H200", ...
 *         KILN_FIT_NUMBERS(kiln_gemv_numbers, .begin_ms = 1e-3, .warp = 25),
 *     };
 *
 * The solver's struct names its fits, and predict() reads them from there: a bench that fits puts
 * other numbers in their place.
 */
#ifndef KILN_FIT_H
#define KILN_FIT_H

/* One number: its name, and what it counts in which unit. */
typedef struct kiln_fit_number {
    const char *name, *meaning;
} kiln_fit_number;

#define KILN_NOT_RECORDED "not recorded"

typedef struct kiln_fit {
    const char *name; /* "gemm_mma": of a solver, or of a part of its configs */

    /* What the numbers were fitted to. KILN_NOT_RECORDED or 0: nobody wrote it down. */
    const char *device, *driver;
    const char *date;          /* 2026-01-31 */
    const char *command;       /* that measured */
    int configs, problems;     /* measured */
    const char *error;         /* of the predictions, over the measured times */
    const char *remark;        /* what was changed by hand after the fit; NULL: nothing */
    double ghz;                /* clock of a unit under load, with which cycles become ms; 0: the
                                  formula takes the peak that the device tells */
    double told_ghz;           /* clock that the device told: others' are in proportion */
    const char *type;          /* of the struct */
    const kiln_fit_number *is; /* its members */
    int count;
    const void *numbers;
} kiln_fit;

/* Declares a struct of doubles, and the names of its members. */
#define KILN_FIT_STRUCT(TYPE, NUMBERS)                                                             \
    typedef struct TYPE {                                                                          \
        NUMBERS(KILN_FIT_MEMBER)                                                                   \
    } TYPE;                                                                                        \
    static const kiln_fit_number TYPE##_are[] = {NUMBERS(KILN_FIT_NAME)}
#define KILN_FIT_MEMBER(NAME, MEANING) double NAME;
#define KILN_FIT_NAME(NAME, MEANING) {#NAME, MEANING},

/* The members of a kiln_fit for numbers of a struct; behind TYPE come designated initialisers. */
#define KILN_FIT_NUMBERS(TYPE, ...)                                                                \
    .type = #TYPE, .is = TYPE##_are, .count = (int)(sizeof(TYPE) / sizeof(double)),                \
    .numbers = &(const TYPE)                                                                       \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

#endif
