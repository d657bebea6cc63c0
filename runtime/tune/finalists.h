/* What a search found, and how it is kept. */
#ifndef KILN_FINALISTS_H
#define KILN_FINALISTS_H

#include "bench.h"
#include "candidates.h"
#include "win.h"

/* How many of the fastest are finalists, and how many of the candidates that need no search; the
 * guess is one besides. */
enum { KILN_FASTEST = 4, KILN_FIRSTS = 4, KILN_FINALISTS = KILN_FASTEST + KILN_FIRSTS + 1 };

enum { KILN_MOST_CLAIMS = 64 };

/* What was measured of one candidate. */
typedef struct kiln_result {
    kiln_candidate candidate;
    size_t index; /* of its trial */
    kiln_times times;
    kiln_win win; /* over the guess, in the last rounds */
    double error; /* largest, over its bound, where the caller's verify tells */
    kiln_op *op;  /* of a finalist that this search ran; NULL elsewhere */
} kiln_result;

typedef struct kiln_finalists {
    kiln_result finalist[KILN_FINALISTS + 1]; /* the best, fastest first; one is in transit */
    int nfinalists;
    size_t firsts;                       /* trials below this number need no search */
    size_t guess;                        /* the trial of the config that would run without rows */
    kiln_result claim[KILN_MOST_CLAIMS]; /* the user's rows, measured again; no time: it failed */
    int nclaims;
    char without[KILN_ROW_WITHOUT]; /* solvers that had no chance: kiln_row */
} kiln_finalists;

/* Puts a result among the finalists and discards the op of the result that is no finalist then. Of
 * many results that are as fast, some look faster: so the fastest one that needs no search stays,
 * to be compared with them, and so do some that may only have been unlucky. The guess always stays:
 * no winner is slower than it in the turns that decide. */
void kiln_finalists_place(kiln_finalists *found, const kiln_result *result);

/* Takes a result out, whose op is the caller's then. Returns false where no finalist has the index.
 */
bool kiln_finalists_take(kiln_finalists *found, size_t index, kiln_result *result);

/* Follows a candidate to an earlier place of the list, as kiln_candidates_advance() moves it. */
void kiln_finalists_follow(kiln_finalists *found, size_t from, size_t to);

/* Returns the fastest one that needs no search and that this search ran; NULL: none has run. */
const kiln_result *kiln_finalists_first(const kiln_finalists *found);

/* Puts the fastest one that needs no search first unless another is faster by more than noise, or
 * by what only an earlier search measured. */
void kiln_finalists_settle(kiln_finalists *found);

/* Appends to the user's rows the winner's, and new rows in the place of the other claims. There
 * must be a finalist. */
kiln_status kiln_finalists_keep(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                                const kiln_finalists *found);

/* Appends a row of a candidate to the user's rows, under the layouts that its solver makes of open
 * ones: these will be asked for again. Times, error, second, `without` and date are the row's own,
 * the rest is filled in. */
kiln_status kiln_row_record(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                            const kiln_candidate *candidate, kiln_row *row);

#endif
