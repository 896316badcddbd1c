/* Planned eliminations (khz_planned.h) that are run through by tables: of systems so large that written-out code would
 * be too much of it.  The same operations in the same order as written out, without exchanges. */
#ifndef KHZ_TURNS_H
#define KHZ_TURNS_H

#include "khz_base.h"
#include "khz_vector.h"

/* Rows of the factors stand one after the other, columns in the order of elimination: in front of the pivot of a row
 * its multiples of earlier rows, behind it what is to the right of it.  Behind the last row a scale for each row. */
typedef struct khz_turns {
    int32_t n;
    const int32_t *a_row, *a_to;       /* [n + 1], [n_a] the matrix by rows, and places in the factors */
    const int32_t *lu_row, *lu_column; /* [n + 1], [n_lu] */
    const int32_t *row, *pivot;        /* [n] of each turn: its row, the place of its pivot */
    const int32_t *above_of, *above;   /* [n + 1], [..] places in the column of a pivot, in rows before it */
    const int32_t *below_of, *below;   /* [n + 1], [..] the same in rows after it */
    const int32_t *below_row;          /* [..] their rows */
    const int32_t *to;                 /* [..] places that multiples of the row of the pivot are subtracted from */
} khz_turns;

/* As the functions of khz_linear_plan; work [n]. */
int khz_turns_factor(const khz_turns *t, const khz_real *a, khz_real *lu);
void khz_turns_solve(const khz_turns *t, const khz_real *lu, khz_real *b, khz_real *work);
void khz_turns_solve_lanes(const khz_turns *t, const khz_real *lu, khz_lanes *b, khz_lanes *work);

#endif
