/* Mixed mode and sub-steps: a pair of methods, with a model built for it (kilohertz/passes/step/inline_stage.py).  In
 * its inlined phase the implicit states are solved for; the others are known when a stage begins. */
#include <string.h>

#include "khz_stepper_core.h"

static int32_t role(const khz_model *m, int32_t i)
{
    return m->stage_role != NULL ? m->stage_role[i] : KHZ_STAGE_IMPLICIT;
}

/* What is known of a stage, `elapsed` after the beginning of the step: each state by its half of the pair, from x1 at
 * the beginning of the sub-step of length h; held ones along their slope at the beginning of the step. */
static void stage_base(const khz_stepper *s, const khz_work *w, int32_t stage, double h, double elapsed)
{
    const khz_method *const method = khz_method_of(s);
    const int32_t n = khz_model_of(s)->n_x;
    const khz_real *const rows[] = {method->a + stage * method->n_stages,
                                    method->explicit_a + stage * method->n_stages};
    for (int32_t i = 0; i < n; i++) {
        const int32_t r = role(khz_model_of(s), i);
        if (r == KHZ_STAGE_HELD) {
            w->stage[i] = w->x0[i] + elapsed * w->f0[i];
            continue;
        }
        khz_real sum = 0.0;
        for (int32_t j = 0; j < stage; j++) {
            sum += rows[r][j] * w->k[(size_t)j * (size_t)n + (size_t)i];
        }
        w->stage[i] = w->x1[i] + h * sum;
    }
}

/* One of the equal parts of a step: from x1, with its derivatives in k, to x1 with those of its end in k again. */
static khz_status sub_step(khz_stepper *s, const khz_work *w, double t, double h, int32_t position)
{
    const khz_method *const method = khz_method_of(s);
    const khz_model *const m = khz_model_of(s);
    const int32_t count = khz_settings_of(s)->substeps;
    const size_t bytes = sizeof(khz_real) * (size_t)m->n_x;
    for (int32_t stage = 1; stage < method->n_stages; stage++) {
        const double elapsed = h * ((position + method->abscissa[stage]) / count);
        stage_base(s, w, stage, h / count, elapsed);
        const khz_status status = khz_stepper_inlined(s, w, t + elapsed, h / count * method->gamma);
        if (status != KHZ_OK) {
            return status;
        }
        memcpy(w->k + (size_t)stage * (size_t)m->n_x, khz_reals(w->instance, m->xd), bytes);
    }
    memcpy(w->x1, khz_reals(w->instance, m->x), bytes);
    memcpy(w->k, khz_reals(w->instance, m->xd), bytes);
    return KHZ_OK;
}

/* The states outside the part with sub-steps by the trapezoidal rule, with the derivative at the end of the others. */
static khz_status correct_held(khz_stepper *s, const khz_work *w, double t, double h)
{
    const khz_model *const m = khz_model_of(s);
    const khz_status status = khz_stepper_rhs(s, w, t + h, w->x1, w->stage);
    for (int32_t i = 0; i < m->n_x && status == KHZ_OK; i++) {
        if (role(m, i) == KHZ_STAGE_HELD) {
            w->x1[i] = w->x0[i] + 0.5 * h * (w->f0[i] + w->stage[i]);
        }
    }
    return status;
}

static int any_held(const khz_model *m)
{
    int found = 0;
    for (int32_t i = 0; i < m->n_x; i++) {
        found |= role(m, i) == KHZ_STAGE_HELD;
    }
    return found;
}

/* What is held moves linearly during the sub-steps: an error of h^2 there, of h^3 after a step, which order 2
 * allows. */
khz_status khz_advance_mixed(khz_stepper *s, const khz_work *w, double t, double h)
{
    const khz_model *const m = khz_model_of(s);
    const size_t bytes = sizeof(khz_real) * (size_t)m->n_x;
    memcpy(w->x1, w->x0, bytes);
    memcpy(w->k, w->f0, bytes);
    memcpy(khz_reals(w->instance, m->x), w->x0, bytes); /* the guess */
    memcpy(khz_reals(w->instance, m->xd), w->f0, bytes);
    for (int32_t k = 0; k < khz_settings_of(s)->substeps; k++) {
        const khz_status status = sub_step(s, w, t, h, k);
        if (status != KHZ_OK) {
            return status;
        }
    }
    return khz_method_of(s)->order > 1 && any_held(m) ? correct_held(s, w, t, h) : KHZ_OK;
}
