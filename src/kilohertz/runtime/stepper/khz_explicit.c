/* Explicit Runge-Kutta: k_i = f(t + c_i*h, x0 + h*sum a_ij*k_j), x1 = x0 + h*sum b_i*k_i. */
#include "khz_stepper_core.h"

/* stage := x0 + h*sum a_j*k_j over the first `count` of k, one after the other. */
static void explicit_point(const khz_stepper *s, const khz_work *w, double h, const khz_real *a, int32_t count)
{
    const int32_t n = khz_model_of(s)->n_x;
    const khz_real *base = w->x0;
    KHZ_STAGE_BY_STAGE
    for (int32_t j = 0; j < count; j++) {
        if (a[j] != 0.0) {
            khz_add_scaled(n, base, h * a[j], w->k + (size_t)j * (size_t)n, w->stage);
            base = w->stage;
        }
    }
    if (base == w->x0) {
        khz_copy(w->stage, w->x0, n);
    }
}

khz_status khz_advance_explicit(khz_stepper *s, const khz_work *w, double t, double h)
{
    const khz_method *const method = khz_method_of(s);
    const int32_t n = khz_model_of(s)->n_x;
    const int32_t n_stages = method->n_stages;
    khz_copy(w->k, w->f0, n);
    KHZ_STAGE_BY_STAGE
    for (int32_t i = 1; i < n_stages; i++) {
        explicit_point(s, w, h, method->a + i * n_stages, i);
        const khz_status status =
            khz_stepper_rhs(s, w, t + method->abscissa[i] * h, w->stage, w->k + (size_t)i * (size_t)n);
        if (status != KHZ_OK) {
            return status;
        }
    }
    KHZ_STAGE_BY_STAGE
    for (int32_t i = 0; i < n_stages; i++) {
        khz_add_scaled(n, i == 0 ? w->x0 : w->x1, h * method->weight[i], w->k + (size_t)i * (size_t)n, w->x1);
    }
    return KHZ_OK;
}
