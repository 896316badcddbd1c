/* Co-Simulation: whole periods of the bounded stepper. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "khz_fmu.h"
#include "khz_stepper_core.h"

/* Flags of a step that was not made as it should. */
static const uint32_t POOR = (uint32_t)KHZ_STEP_HELD | (uint32_t)KHZ_STEP_NEWTON_CAP | (uint32_t)KHZ_STEP_NOT_FINITE |
                             (uint32_t)KHZ_STEP_PIVOT | (uint32_t)KHZ_STEP_EVENT_CAP | (uint32_t)KHZ_STEP_FAILURE;

double khz_fmu_time(const khz_fmu *f)
{
    return f->stepper != NULL ? khz_stepper_grid(f->stepper, f->stepper->n) : ((khz_context *)f->instance)->time;
}

/* Parameters were changed between two steps. */
static khz_fmu_status renew(khz_fmu *f)
{
    const khz_fmu_status status = khz_fmu_renew(f);
    if (status != KHZ_FMU_OK) {
        return status;
    }
    const khz_status event = khz_event(f->model, f->instance);
    return event == KHZ_OK ? KHZ_FMU_OK : khz_fmu_failed(f, event, KHZ_FMU_ERROR);
}

/* Steps of the stepper that lead from its time to `until`; -1: none do. */
static int64_t n_steps(const khz_stepper *s, double until)
{
    const int64_t period = s->settings.period_ns * s->settings.internal_steps;
    const double slack_ns = fmax(1.0, fmax(1e-6 * (double)period, 4e9 * DBL_EPSILON * fabs(until)));
    const double from_start = (until - s->start) * 1e9;
    const double ahead = from_start - (double)((int64_t)s->n * s->settings.period_ns);
    const int64_t n = llround(ahead / (double)period);
    if (n >= 0 && fabs(ahead - (double)(n * period)) <= slack_ns) {
        return n;
    }
    /* the last step of a run may be a shorter one */
    return s->stop_ns > 0 && fabs(from_start - (double)s->stop_ns) <= slack_ns ? (int64_t)ceil(ahead / (double)period)
                                                                               : -1;
}

static khz_fmu_status refuse_step(const khz_fmu *f, double time, double length)
{
    const khz_stepper *const s = f->stepper;
    const double period = (double)(s->settings.period_ns * s->settings.internal_steps) / 1e9;
    char text[256];
    (void)snprintf(text, sizeof text,
                   "a step of %.17g s from %.17g s is not made of whole steps of %.17g s from %.17g s, where this "
                   "instance is",
                   length, time, period, khz_fmu_time(f));
    return khz_fmu_refuse(f, text);
}

/* What a step that was not made as it should is called. */
static khz_fmu_status warn(const khz_fmu *f, uint32_t flags)
{
    char text[256];
    (void)snprintf(text, sizeof text, "time = %g: %s", khz_fmu_time(f),
                   (flags & (uint32_t)KHZ_STEP_HELD) != 0         ? "a step failed, the states are those before it"
                   : (flags & (uint32_t)KHZ_STEP_NOT_FINITE) != 0 ? "a value is not a number"
                                                                  : "a cap of iterations was hit");
    khz_fmu_say(f, KHZ_FMU_WARNING, "logStatusWarning", text);
    return KHZ_FMU_WARNING;
}

/* The importer is told of an instant inside the step; until when it shall go on. */
static double told(khz_fmu *f)
{
    f->head.mode = KHZ_FMU_INTERMEDIATE;
    const double until = f->update(f, khz_fmu_time(f));
    f->head.mode = KHZ_FMU_STEPPING;
    return f->may_return_early ? until : (double)INFINITY;
}

/* `n` periods, as long as nothing speaks against it. */
static khz_fmu_status make_steps(khz_fmu *f, int64_t n, khz_fmu_step_end *end)
{
    khz_fmu_status status = KHZ_FMU_OK;
    uint32_t flags = 0;
    for (int64_t i = 0; i < n && status == KHZ_FMU_OK && !end->terminated && !end->is_early; i++) {
        flags |= f->step(f->stepper);
        end->terminated = (flags & (uint32_t)KHZ_STEP_TERMINATED) != 0;
        end->has_events = (flags & (uint32_t)KHZ_STEP_EVENT) != 0;
        if ((flags & (uint32_t)KHZ_STEP_ASSERTION) != 0) {
            status = khz_fmu_failed(f, KHZ_ASSERTION, KHZ_FMU_ERROR);
        } else if (f->update != NULL && i + 1 < n && !end->terminated) {
            end->is_early = told(f) <= khz_fmu_time(f);
        }
    }
    return status == KHZ_FMU_OK && (flags & POOR) != 0 ? warn(f, flags) : status;
}

khz_fmu_status khz_fmu_step(khz_fmu *f, double time, double length, khz_fmu_step_end *end)
{
    const khz_stepper *const s = f->stepper;
    memset(end, 0, sizeof *end);
    if (f->head.mode != KHZ_FMU_STEPPING) {
        return khz_fmu_refuse(f, "steps are made after the initialisation and before the end, in Step Mode");
    }
    const int64_t n = n_steps(s, time + length);
    if (n < 0 || n_steps(s, time) != 0 || !(length >= 0.0)) {
        return refuse_step(f, time, length);
    }
    khz_fmu_listen(f);
    khz_fmu_status status = f->head.needs_parameters ? renew(f) : KHZ_FMU_OK;
    if (status == KHZ_FMU_OK) {
        status = make_steps(f, n, end);
    }
    f->head.needs_event = 0;
    f->head.needs_rest = 0;
    return status;
}

khz_fmu_status khz_fmu_step_event(khz_fmu *f, khz_fmu_news *news)
{
    memset(news, 0, sizeof *news);
    if (f->head.mode != KHZ_FMU_EVENT_MODE) {
        return khz_fmu_refuse(f, "discrete states are updated in Event Mode");
    }
    if (!f->head.needs_event) {
        return KHZ_FMU_OK;
    }
    khz_fmu_listen(f);
    khz_fmu_status status = f->head.needs_parameters ? khz_fmu_renew(f) : KHZ_FMU_OK;
    if (status != KHZ_FMU_OK) {
        return status;
    }
    const uint32_t flags = khz_stepper_event(f->stepper);
    news->terminate = (flags & (uint32_t)KHZ_STEP_TERMINATED) != 0;
    news->states_changed = 1;
    f->head.needs_event = 0;
    f->head.needs_rest = 0;
    if ((flags & (uint32_t)KHZ_STEP_ASSERTION) != 0) {
        return khz_fmu_failed(f, KHZ_ASSERTION, KHZ_FMU_ERROR);
    }
    return (flags & POOR) != 0 ? warn(f, flags) : KHZ_FMU_OK;
}

khz_fmu_status khz_fmu_enter_step(khz_fmu *f)
{
    khz_fmu_news news;
    if (f->stepper == NULL || f->head.mode != KHZ_FMU_EVENT_MODE) {
        return khz_fmu_refuse(f, "Step Mode is entered from Event Mode, in Co-Simulation");
    }
    const khz_fmu_status status = khz_fmu_step_event(f, &news); /* where something was set since the last update */
    f->head.mode = KHZ_FMU_STEPPING;
    return status;
}
