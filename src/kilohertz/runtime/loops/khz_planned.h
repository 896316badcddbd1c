/* Linear systems whose elimination is written out when the model is compiled: order and fill are planned, and of rows
 * that look alike the one with the largest entry is the pivot; a symmetric one has its pivots on the diagonal.  Where
 * pivots are not good enough the dense way decides, in a large system one that keeps it without zeros.
 */
#ifndef KHZ_PLANNED_H
#define KHZ_PLANNED_H

#include "khz_linear.h"
#include "khz_loops.h"
#include "khz_scattered.h"
#include "khz_sparse.h"

typedef struct khz_linear_plan {
    int32_t n, n_a;                 /* unknowns, entries */
    int32_t is_symmetric;           /* each entry stands for the one across the diagonal, too */
    int32_t room;                   /* doubles of memory in front of the entries */
    const int32_t *dense;           /* [n_a] place of each entry in the dense matrix, row major; NULL: there is none */
    const khz_scattered *scattered; /* the way out instead of the dense one */
    /* a [n_a] into lu [KHZ_FACTORS_ROOM]; order: the rows that were taken.  1: pivots do not suit these numbers */
    int (*factor)(const khz_real *a, khz_real *lu, int32_t *order);
    /* b [n] in: right-hand side, out: solution */
    void (*solve)(const khz_real *lu, const int32_t *order, khz_real *b);
    void (*solve_lanes)(const khz_real *lu, const int32_t *order, khz_lanes *b); /* NULL where nobody asks for it */
} khz_linear_plan;

/* Doubles of memory for the factors: their entries, a scale for each row.  They stand behind the entries of the matrix,
 * these behind what the way out needs and one more: KHZ_PLANNED_ROOM for the dense way. */
#define KHZ_FACTORS_ROOM(n_lu, n) ((n_lu) + (n))
#define KHZ_PLANNED_ROOM(n) (KHZ_LINEAR_ROOM(n) + 1)

/* khz_linear by a plan, the entries of a new matrix in memory + plan->room.  *factored: 3 by the plan. */
khz_status khz_linear_planned(khz_context *c, int block, int place, const khz_linear_plan *plan, khz_real *memory,
                              int32_t *order, int32_t *factored, khz_real *b);
khz_status khz_linear_planned_lanes(khz_context *c, int block, int place, const khz_linear_plan *plan, khz_real *memory,
                                    int32_t *order, int32_t *factored, khz_lanes *b);

/* Is the largest entry that can be a pivot one, beside those above it in its column? */
static KHZ_INLINE int khz_is_pivot(khz_real largest, khz_real above)
{
    return largest > KHZ_PLANNED_PIVOT_LOST * above && largest >= KHZ_LEAST;
}

/* The same of one that numbers have chosen among n, as of a dense matrix. */
static KHZ_INLINE int khz_is_chosen_pivot(int n, khz_real size, khz_real above)
{
    return size > (khz_real)n * KHZ_PIVOT_LOST * above && size >= KHZ_LEAST;
}

/* Exchange n numbers of two rows. */
void khz_exchange(int32_t n, khz_real *a, khz_real *b);

#endif
