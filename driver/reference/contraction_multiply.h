/* The innermost loop of a contraction. */
#ifndef KILN_CONTRACTION_MULTIPLY_H
#define KILN_CONTRACTION_MULTIPLY_H

enum {
    QUAD = 4,   /* rows in registers */
    PANEL = 16, /* columns in registers */
    PANELS = 8,
    BLOCK = PANEL * PANELS /* columns gathered together */
};

/* Computes sum[i * BLOCK + j] += quad[t * QUAD + i] * terms[t * PANEL + j] over t < depth, for
 * QUAD x PANEL sums in registers. terms and sum are aligned to 64 bytes. */
typedef void contraction_multiply(int depth, const double *quad, const double *terms, double *sum);

/* Returns the function for the vectors of this machine. */
contraction_multiply *contraction_multiply_here(void);

#endif
