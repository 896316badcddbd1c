/* Servo valve, cylinder with two chambers, and a mass against a spring with friction. */
#include <math.h>

#include "rhs.h"

typedef struct chamber {
    double beta, V0, A, leak;
} chamber;

typedef struct parameters {
    double T, u;         /* valve */
    double supply, tank; /* pressures */
    double k, dp0;       /* each edge of the valve */
    chamber left, right;
    double m, d, c, fc, v0; /* piston */
} parameters;

static const parameters defaults = {
    2e-3, 0.3,   2e7, 1e5,   1e-7, 1e4, {1.4e9, 1e-4, 1e-3, 1e-13}, {1.4e9, 1e-4, -0.8e-3, 1e-13},
    30.0, 400.0, 2e4, 120.0, 1e-3,
};
const void *const hand_parameters = &defaults;

static inline double flow(const parameters *p, double opening, double dp)
{
    return p->k * opening * dp / sqrt(sqrt(dp * dp + p->dp0 * p->dp0));
}

static inline double pressure_rate(const chamber *h, double q, double pressure, double s, double v)
{
    return (q - h->A * v - h->leak * pressure) * h->beta / (h->V0 + h->A * s);
}

/* x: spool y, pressures left and right, piston s and v */
void hand_rhs(const void *parameters_, double time, const double *restrict x, double *restrict xd)
{
    const parameters *const p = parameters_;
    const double y = x[0], left = x[1], right = x[2], s = x[3], v = x[4];
    const double t = tanh(8.0 * y);
    const double ahead = 0.5 * (1.0 + t), back = 0.5 * (1.0 - t);
    (void)time;
    xd[0] = (p->u - y) / p->T;
    xd[1] = pressure_rate(&p->left, flow(p, ahead, p->supply - left) - flow(p, back, left - p->tank), left, s, v);
    xd[2] = pressure_rate(&p->right, flow(p, back, p->supply - right) - flow(p, ahead, right - p->tank), right, s, v);
    xd[3] = v;
    xd[4] = (p->left.A * left + p->right.A * right - p->d * v - p->fc * tanh(v / p->v0) - p->c * s) / p->m;
}
