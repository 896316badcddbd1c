/* Large linear systems with few entries, kept without zeros: pivots are chosen while it runs, in room that suffices
 * whatever they are. */
#ifndef KHZ_SCATTERED_H
#define KHZ_SCATTERED_H

#include "khz_base.h"
#include "khz_limits.h"
#include "khz_vector.h"

/* What is known before numbers are: entries, the order of columns, entries of the factors at most. */
typedef struct khz_scattered {
    int32_t n, n_a, n_lu;
    const int32_t *start; /* [n + 1] the matrix by columns */
    const int32_t *row;   /* [n_a] */
    const int32_t *place; /* [n_a] of each entry by columns: its number by rows */
    const int32_t *order; /* [n] columns as they are eliminated */
} khz_scattered;

/* Numbers of memory: work, scales, directions in which solutions are free, a column, the matrix by columns, factors;
 * and integers, for which there is room in single precision, too.  The entries of the matrix stand behind it and one
 * more. */
#define KHZ_SCATTERED_INTEGERS(n, n_lu) ((n_lu) + 9 * (n) + 4)
#define KHZ_SCATTERED_NUMBERS(n, n_a, n_lu) ((KHZ_LANES + KHZ_MOST_LOST + 2) * (n) + (n_a) + (n_lu))
#define KHZ_SCATTERED_ROOM(n, n_a, n_lu) (KHZ_SCATTERED_NUMBERS(n, n_a, n_lu) + KHZ_SCATTERED_INTEGERS(n, n_lu))

/* khz_linear for entries by rows.  *factored: 0 the matrix is new, 1 factorised, 2 factorised and singular.  Singular:
 * the solution of smallest norm where the equations agree. */
khz_status khz_linear_scattered(khz_context *c, int block, int place, const khz_scattered *s, khz_real *memory,
                                int32_t *factored, khz_real *b);
khz_status khz_linear_scattered_lanes(khz_context *c, int block, int place, const khz_scattered *s, khz_real *memory,
                                      int32_t *factored, khz_lanes *b);

/* For who sets the entries [n_a], by rows, himself: where they stand in memory; factors of them, not 0: a column has no
 * pivot; b [n] in: right-hand side, out: solution by the last factors. */
khz_real *khz_scattered_entries(const khz_scattered *s, khz_real *memory);
int khz_scattered_factor(const khz_scattered *s, khz_real *memory);
void khz_scattered_solve(const khz_scattered *s, khz_real *memory, khz_real *b);

#endif
