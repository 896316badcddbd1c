/* Newton's method for one and two unknowns, as long as all goes as usual: whole steps that become clearly smaller.
 * khz_newton does the same for any number, with cuts, exchanges of rows and a second round, on vectors in memory; for
 * so few that takes several times what residuals and Jacobians do.
 *
 * What the Jacobian at the beginning of a step makes of the residual at its end is how far the solution still is, but
 * for a part as small as the step (P. Deuflhard, Newton Methods for Nonlinear Problems, 2004, section 2.1: the
 * simplified Newton correction).  Where that is rounding the solution is there; where a step by it leaves rounding, no
 * other Jacobian is needed. */
#include <math.h>

#include "khz_newton_frame.h"
#include "khz_probe.h"

/* A Jacobian, the inverse of its determinant, the sizes of the unknowns, and what may be left of them. */
typedef struct few {
    khz_real a[4], inverse, unit[2], left[2];
} few;

/* v := -a^-1 f; its largest part, beside the unknowns. */
static KHZ_INLINE khz_real few_step(int n, const few *q, const khz_real *f, khz_real *v)
{
    if (n == 1) {
        v[0] = -(f[0] * q->inverse);
        return fabs(v[0]) / q->unit[0];
    }
    v[0] = (f[1] * q->a[1] - f[0] * q->a[3]) * q->inverse;
    v[1] = (f[0] * q->a[2] - f[1] * q->a[0]) * q->inverse;
    return khz_larger(fabs(v[0]) / q->unit[0], fabs(v[1]) / q->unit[1]);
}

/* Is such a step rounding? */
static KHZ_INLINE int few_is_rounding(int n, const few *q, const khz_real *v)
{
    return fabs(v[0]) <= q->left[0] && (n == 1 || fabs(v[1]) <= q->left[1]);
}

/* At the place where the residual was evaluated last; 0 where it has no value there, or its determinant is lost. */
static KHZ_INLINE int few_jacobian(const khz_newton_problem *p, khz_context *c, void *instance, int n,
                                   const khz_real *x, few *q)
{
    if (!khz_succeeds(p->jacobian, c, instance, x, q->a)) {
        return 0;
    }
    for (int j = 0; j < n; j++) {
        q->unit[j] = khz_larger(p->nominal[j], fabs(x[j]));
        q->left[j] = KHZ_FEW_LEFT * khz_larger(KHZ_FEW_LEAST * p->nominal[j], fabs(x[j]));
    }
    const khz_real one = n == 1 ? q->a[0] : q->a[0] * q->a[3];
    const khz_real other = n == 1 ? 0.0 : q->a[1] * q->a[2];
    const khz_real determinant = one - other;
    q->inverse = 1.0 / determinant;
    return fabs(determinant) > KHZ_DETERMINANT_LOST * (fabs(one) + fabs(other)) && fabs(determinant) > KHZ_LEAST &&
           fabs(determinant) <= KHZ_LARGEST;
}

static KHZ_INLINE int solve_few(const khz_newton_problem *p, khz_context *c, void *instance, khz_real *x, int n)
{
    few q;
    khz_real at[2], f[2], step[2];
    khz_real size = 0.0;
    int is_new = 1;
    int n_new = 0;
    at[0] = x[0];
    at[n - 1] = x[n - 1];
    if (!khz_succeeds(p->residual, c, instance, at, f)) {
        return 0;
    }
    for (int k = 0; k < KHZ_FEW_CAP && (k < c->newton_cap || c->newton_cap == 0); k++) {
        c->n_iterations++;
        if (is_new) {
            n_new++;
            if (!few_jacobian(p, c, instance, n, at, &q)) {
                return 0;
            }
            size = few_step(n, &q, f, step);
        }
        at[0] += step[0];
        at[n - 1] = n > 1 ? at[n - 1] + step[n - 1] : at[0];
        if (!khz_succeeds(p->residual, c, instance, at, f)) {
            return 0;
        }
        const khz_real next = few_step(n, &q, f, step);
        if (few_is_rounding(n, &q, step) || (size < p->tolerance && next < p->tolerance)) {
            c->n_detours += k >= KHZ_USUAL_FEW || n_new > KHZ_USUAL_FEW_NEW ? 1U : 0U;
            x[0] = at[0];
            x[n - 1] = at[n - 1];
            KHZ_RESIDUAL(c, n, f);
            return 1;
        }
        if (!(next <= KHZ_FEW_SHRINKS * size)) {
            return 0;
        }
        is_new = next * next > KHZ_FEW_LEFT * KHZ_FEW_LEAST * size;
        size = next;
    }
    return 0;
}

int khz_newton_few(const khz_newton_problem *p, khz_context *c, void *instance, khz_real *x)
{
    return p->n == 1 ? solve_few(p, c, instance, x, 1) : solve_few(p, c, instance, x, 2);
}
