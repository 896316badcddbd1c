/* A step with the values at its end; in the index-1 form first with open loops, and again where they were too far from
 * their solution (docs/decisions/0010). */
#include <math.h>
#include <string.h>

#include "khz_stepper_core.h"

int khz_stepper_is_loose(const khz_stepper *s, const khz_work *w, khz_real part)
{
    const khz_real *const res = khz_reals(w->instance, khz_model_of(s)->res);
    int loose = 0;
    for (int32_t i = 0; i < khz_model_of(s)->n_z; i++) {
        loose |= !(fabs(res[i]) <= part * w->res_scale[i]);
    }
    return loose;
}

/* Index-1 form: a loop bends too much for stages that are linear in its unknowns.  The step again, each stage with the
 * loops solved, which is the step of the ordinary form; or, where only the end is off, z alone. */
static khz_status move_closed(khz_stepper *s, const khz_work *w, double t, double end, double h, khz_status status)
{
    const int again = h > 0.0 && status != KHZ_OK;
    s->counts.corrected++;
    ((khz_context *)w->instance)->n_detours++;
    status = KHZ_OK;
    if (again) {
        khz_set_point(khz_model_of(s), w->instance, w->x0);
        s->is_closed = 1;
        status = khz_advance(s, w, t, h);
        s->is_closed = 0;
        /* What the linear stages say of z is no good guess; that of the last stage is. */
        memcpy(khz_reals(w->instance, khz_model_of(s)->x), w->x1, sizeof(khz_real) * (size_t)khz_model_of(s)->n_x);
        khz_get_point(khz_model_of(s), w->instance, w->x1);
    }
    status = status == KHZ_OK ? khz_stepper_evaluate(s, w, end, w->x1) : status;
    khz_get_point(khz_model_of(s), w->instance, w->x1);
    return status;
}

khz_status khz_move(khz_stepper *s, const khz_work *w, double t, double end, double h)
{
    khz_status status = KHZ_OK;
    s->is_trial = khz_model_of(s)->n_z > 0;
    if (h > 0.0) {
        status = khz_advance(s, w, t, h);
    } else {
        memcpy(w->x1, w->x0, sizeof(khz_real) * (size_t)khz_n_y(khz_model_of(s)));
    }
    status = status == KHZ_OK ? khz_stepper_evaluate_end(s, w, end, w->x1) : status;
    s->is_trial = 0;
    if (khz_model_of(s)->n_z > 0 && (status != KHZ_OK || khz_stepper_is_loose(s, w, KHZ_SMALL))) {
        status = move_closed(s, w, t, end, h, status);
    }
    return status;
}
