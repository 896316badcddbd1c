/* Mixed mode and sub-steps, with a model built for them (kilohertz/passes/step/inline.py): in its inlined phase the
 * implicit states are solved for, the others go on by gamma_h times the derivative that stands in the instance. */
#include <string.h>

#include "khz_stepper_core.h"

/* Implicit Euler for the fast states, explicit Euler for the slow ones, in settings.substeps equal parts of h.  Where
 * the phase leaves a derivative out (states that do not belong to the part with sub-steps) it is held over h. */
khz_status khz_advance_mixed(khz_stepper *s, const khz_work *w, double t, double h)
{
    const khz_model *const m = s->model;
    const size_t bytes = sizeof(double) * (size_t)m->n_x;
    const int32_t count = s->settings.substeps;
    double *const x = khz_reals(w->instance, m->x);
    memcpy(x, w->x0, bytes);
    memcpy(khz_reals(w->instance, m->xd), w->f0, bytes);
    for (int32_t k = 1; k <= count; k++) {
        memcpy(w->stage, x, bytes); /* the base */
        const khz_status status = khz_stepper_inlined(s, w, k == count ? t + h : t + h * k / count, h / count);
        if (status != KHZ_OK) {
            return status;
        }
    }
    memcpy(w->x1, x, bytes);
    return KHZ_OK;
}
