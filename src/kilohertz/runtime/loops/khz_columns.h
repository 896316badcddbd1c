/* Sparse LU by columns that chooses its pivots while it runs, in room that its caller has. */
#ifndef KHZ_COLUMNS_H
#define KHZ_COLUMNS_H

#include "khz_base.h"
#include "khz_vector.h"

typedef int32_t khz_loose_int __attribute__((may_alias)); /* among doubles */

/* Factors by columns: those of U above its pivot, rows numbered as pivots, then the pivot, then those of L. */
typedef struct khz_factors {
    int32_t n, n_pivots;
    khz_loose_int *start;    /* [n + 1] */
    khz_loose_int *diagonal; /* [n] place of the pivot */
    khz_loose_int *order;    /* [n] column of the matrix that is number k; at the end those without a pivot */
    khz_loose_int *number;   /* [n] of the pivot that a row has; at the end those without one */
    khz_loose_int *row;      /* [most_entries] */
    khz_real *value;         /* [most_entries] */
} khz_factors;

/* What the factors are made of, and what the search for columns needs. */
typedef struct khz_columns {
    khz_factors f;
    int32_t most_entries, most_lost; /* entries of the factors, columns without a pivot */
    int64_t products_left;
    const khz_real *given;                               /* entries of the matrix by columns, rows of size one */
    const khz_loose_int *given_start, *given_row, *n_of; /* [n + 1], .., [n] entries of each row */
    khz_real *x;                                         /* [n] a column in full length */
    khz_loose_int *mark, *stack, *next;                  /* [n] */
    khz_loose_int *found; /* [n + 1] rows that a column reaches, at the end, in the order of elimination */
} khz_columns;

enum { KHZ_COLUMNS_DONE, KHZ_COLUMNS_LOST, KHZ_COLUMNS_ROOM, KHZ_COLUMNS_NOT_FINITE };

/* Factorise; f.order has the columns in the order in which they are eliminated.  KHZ_COLUMNS_LOST: more columns than
 * most_lost have no pivot that rounding leaves.  KHZ_COLUMNS_ROOM: entries or products are more than there may be.
 * Allocates: never. */
int khz_columns_factor(khz_columns *m);

/* b [n] in: right-hand side, out: solution, zero where a column has no pivot; work [n], in lanes [KHZ_LANES*n].  What
 * is left of the right-hand side in rows without a pivot stands at the end of work.  In lanes all columns have one. */
void khz_columns_solve(const khz_factors *f, const khz_real *scale, khz_real *b, khz_real *work);
void khz_columns_solve_lanes(const khz_factors *f, const khz_real *scale, khz_lanes *b, khz_real *work);

#endif
