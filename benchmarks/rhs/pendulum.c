/* A double pendulum of two massive rods, by Lagrange's equations in the absolute angles. */
#include <math.h>

#include "rhs.h"

typedef struct rod {
    double L, m, J, d; /* d: friction in the joint above */
} rod;

typedef struct parameters {
    double g;
    rod upper, lower;
} parameters;

static const parameters defaults = {9.81, {1.0, 2.0, 0.2, 0.1}, {0.8, 1.5, 0.1, 0.1}};
const void *const hand_parameters = &defaults;

/* x: angle and speed of the upper rod, angle and speed of the lower rod */
void hand_rhs(const void *parameters_, double time, const double *restrict x, double *restrict xd)
{
    const parameters *const p = parameters_;
    const rod *const a = &p->upper, *const b = &p->lower;
    const double s1 = sin(x[0]), c1 = cos(x[0]), w1 = x[1], s2 = sin(x[2]), c2 = cos(x[2]), w2 = x[3];
    const double elbow = b->d * (w2 - w1);
    const double r1 = 0.5 * a->L, r2 = 0.5 * b->L, coupling = b->m * a->L * r2;
    const double sine = s1 * c2 - c1 * s2, cosine = c1 * c2 + s1 * s2;
    (void)time;

    const double m11 = a->J + a->m * r1 * r1 + b->m * a->L * a->L;
    const double m12 = coupling * cosine;
    const double m22 = b->J + b->m * r2 * r2;
    const double f1 = elbow - a->d * w1 - coupling * sine * w2 * w2 - (a->m * r1 + b->m * a->L) * p->g * s1;
    const double f2 = -elbow + coupling * sine * w1 * w1 - b->m * r2 * p->g * s2;
    const double det = m11 * m22 - m12 * m12;
    xd[0] = w1;
    xd[1] = (f1 * m22 - f2 * m12) / det;
    xd[2] = w2;
    xd[3] = (f2 * m11 - f1 * m12) / det;
}
