/* Sparse LU whose order and fill are planned when the model is compiled: fixed loops, no search for pivots.
 *
 * The plan belongs to the pattern of J = d F/d y joined with the diagonal; the matrix is W = M - h*gamma*J. */
#ifndef KHZ_SPARSE_H
#define KHZ_SPARSE_H

#include <float.h>
#include <math.h>

#include "khz_base.h"
#include "khz_limits.h"

typedef struct khz_sparse_plan {
    int32_t n, n_a, n_jac, n_lu; /* size; entries of W, of J, of L and U together */
    const int32_t *a_row;        /* [n + 1] pattern of W by rows, diagonal included, columns ascending */
    const int32_t *a_column;     /* [n_a] */
    const int32_t *a_of_jac;     /* [n_jac] place in a of each entry of J, in the order of jac_row and jac_column */
    const int32_t *a_diagonal;   /* [n] place in a of the diagonal */
    const int32_t *order;        /* [n] row and column of W that are eliminated as number k */
    const int32_t *inverse;      /* [n] its inverse */
    const int32_t *lu_row;       /* [n + 1] pattern of L + U by rows in the order of elimination, columns ascending */
    const int32_t *lu_column;    /* [n_lu] */
    const int32_t *lu_diagonal;  /* [n] place in lu of the pivots */
    int64_t n_products;          /* multiplications of one factorisation */
    int32_t is_alike;            /* rows of L or U follow one another without gaps: eight at a time pay */
    /* khz_sparse_factor and khz_sparse_solve for this plan alone, written out, with the same bits; NULL: by the tables
     */
    int (*factor)(const khz_real *a, khz_real *lu);
    void (*solve)(const khz_real *lu, khz_real *b);
} khz_sparse_plan;

/* Doubles that `lu` needs, with so many entries of L + U. */
#define KHZ_SPARSE_ROOM(n_lu, n) ((n_lu) + 2 * (n))
KHZ_EXPORT size_t khz_sparse_size(const khz_sparse_plan *p);

/* a [n_a] := M - h_gamma*J, from the values jac [n_jac]; M has ones in its first n_ones rows and is zero else. */
void khz_sparse_assemble(const khz_sparse_plan *p, const khz_real *jac, khz_real h_gamma, int32_t n_ones, khz_real *a);

/* A row of U with its pivot and what that is a difference of (`whole`), its largest entry, the largest multiple of an
 * earlier row that was subtracted, and the largest entry of the matrix there: are these pivots good enough? */
static KHZ_INLINE int khz_suits(khz_real pivot, khz_real whole, khz_real peak, khz_real reached, khz_real largest)
{
    return pivot > KHZ_PLANNED_PIVOT_LOST * whole && pivot >= KHZ_LEAST && peak <= KHZ_LARGEST &&
           reached <= KHZ_PLANNED_GROWTH * largest;
}

/* The larger of two, of which a is a number: b counts where it is larger.  fmax without its call. */
static KHZ_INLINE khz_real khz_larger(khz_real a, khz_real b) { return b > a ? b : a; }

/* v[at[m]] -= factor*from[m] at n places, all of them others: two at a time, which do not wait for one another. */
static KHZ_INLINE void khz_subtract_at(khz_real *v, const int32_t *at, khz_real factor, const khz_real *from, int32_t n)
{
    int32_t m = 0;
    for (; m + 2 <= n; m += 2) {
        khz_real *const one = v + at[m], *const other = v + at[m + 1];
        const khz_real less = *one - factor * from[m];
        *other -= factor * from[m + 1];
        *one = less;
    }
    if (m < n) {
        v[at[m]] -= factor * from[m];
    }
}

/* Factorise a [n_a] into lu [khz_sparse_size].  0: done; 1: the order of pivots does not suit these numbers (a pivot is
 * lost in rounding, entries grow, or something is not finite): take a dense factorisation.  Allocates: never. */
KHZ_EXPORT int khz_sparse_factor(const khz_sparse_plan *p, const khz_real *a, khz_real *lu);

/* The same from a dense matrix [n*n, row major], of which the plan's entries are read; lu has room for them behind the
 * factors [khz_sparse_size + n_a]. */
int khz_sparse_factor_dense(const khz_sparse_plan *p, const khz_real *dense, khz_real *lu);

/* b [n] in: right-hand side, out: solution; the row in full length is used.  Allocates: never. */
KHZ_EXPORT void khz_sparse_solve(const khz_sparse_plan *p, khz_real *lu, khz_real *b);

#endif
