/* Explicit Runge-Kutta: k_i = f(t + c_i*h, x0 + h*sum a_ij*k_j), x1 = x0 + h*sum b_i*k_i. */
#include <string.h>

#include "khz_stepper_core.h"

khz_status khz_advance_explicit(khz_stepper *s, const khz_work *w, double t, double h)
{
    const khz_method *const method = s->method;
    const int32_t n = s->model->n_x;
    const int32_t n_stages = method->n_stages;
    memcpy(w->k, w->f0, sizeof(double) * (size_t)n);
    for (int32_t i = 1; i < n_stages; i++) {
        const double *const a = method->a + i * n_stages;
        memcpy(w->stage, w->x0, sizeof(double) * (size_t)n);
        for (int32_t j = 0; j < i; j++) {
            const double *const k = w->k + (size_t)j * (size_t)n;
            for (int32_t m = 0; m < n && a[j] != 0.0; m++) {
                w->stage[m] += h * a[j] * k[m];
            }
        }
        const khz_status status =
            khz_stepper_rhs(s, w, t + method->abscissa[i] * h, w->stage, w->k + (size_t)i * (size_t)n);
        if (status != KHZ_OK) {
            return status;
        }
    }
    memcpy(w->x1, w->x0, sizeof(double) * (size_t)n);
    for (int32_t i = 0; i < n_stages; i++) {
        const double *const k = w->k + (size_t)i * (size_t)n;
        for (int32_t m = 0; m < n; m++) {
            w->x1[m] += h * method->weight[i] * k[m];
        }
    }
    return KHZ_OK;
}
