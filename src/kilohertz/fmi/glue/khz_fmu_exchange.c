/* Model Exchange: the model evaluated for the importer's solver. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "khz_fmu.h"
#include "khz_jacobian.h"
#include "khz_vector.h"

static const double NEAR_INSTANT = 1e-9; /* as a part of the time: instants that importers take for one */

static khz_context *context(const khz_fmu *f) { return (khz_context *)f->instance; }

static void moved(khz_fmu *f)
{
    f->head.needs_rates = 1;
    f->head.needs_rest = 1;
}

void khz_fmu_set_time(khz_fmu *f, double time)
{
    if (context(f)->time != time) {
        context(f)->time = time;
        moved(f);
    }
}

khz_fmu_status khz_fmu_set_states(khz_fmu *f, const double *x)
{
    memcpy(khz_reals(f->instance, f->model->x), x, sizeof(double) * (size_t)f->model->n_x);
    moved(f);
    return KHZ_FMU_OK;
}

khz_fmu_status khz_fmu_states(khz_fmu *f, double *x)
{
    const khz_fmu_status status = f->head.mode == KHZ_FMU_INITIALIZING ? khz_fmu_refresh(f) : KHZ_FMU_OK;
    memcpy(x, khz_reals(f->instance, f->model->x), sizeof(double) * (size_t)f->model->n_x);
    return status;
}

khz_fmu_status khz_fmu_nominals(const khz_fmu *f, double *nominal)
{
    memcpy(nominal, khz_reals(f->instance, f->model->nominal), sizeof(double) * (size_t)f->model->n_x);
    return KHZ_FMU_OK;
}

int khz_fmu_count(const khz_fmu *f, size_t said, int32_t n)
{
    if (said != (size_t)n) {
        (void)khz_fmu_refuse(f, "an array is not as long as the model has states or event indicators");
    }
    return said == (size_t)n;
}

khz_fmu_status khz_fmu_derivatives(khz_fmu *f, double *xd)
{
    const khz_model *const m = f->model;
    const size_t bytes = sizeof(double) * (size_t)m->n_x;
    if (f->head.needs_rates && !f->head.needs_parameters && f->head.mode != KHZ_FMU_INITIALIZING) {
        memcpy(f->x, khz_reals(f->instance, m->x), bytes);
        const khz_status status = khz_derivatives(m, f->instance, context(f)->time, f->x, xd);
        f->head.needs_rates = status != KHZ_OK;
        if (status != KHZ_OK) { /* what follows asks again, and says why */
            return khz_fmu_refresh(f);
        }
        return KHZ_FMU_OK;
    }
    const khz_fmu_status status = khz_fmu_refresh(f);
    memcpy(xd, khz_reals(f->instance, m->xd), bytes);
    return status;
}

khz_fmu_status khz_fmu_indicators(khz_fmu *f, double *z)
{
    const khz_fmu_status status = khz_fmu_refresh(f);
    const int32_t *const r = khz_ints(f->instance, f->model->r);
    if (status == KHZ_FMU_OK && f->model->n_r > 0) {
        f->model->crossings(f->instance, z);
        for (int32_t i = 0; i < f->model->n_r; i++) {
            z[i] = r[i] ? z[i] : -z[i];
        }
    }
    return status;
}

khz_fmu_status khz_fmu_enter_event(khz_fmu *f)
{
    if (f->stepper != NULL && f->has_event_mode && f->head.mode == KHZ_FMU_STEPPING) {
        f->head.mode = KHZ_FMU_EVENT_MODE;
        return KHZ_FMU_OK;
    }
    if (f->head.mode != KHZ_FMU_CONTINUOUS && f->head.mode != KHZ_FMU_EVENT_MODE) {
        return khz_fmu_refuse(f, "Event Mode is entered from Continuous-Time Mode, or from Step Mode where the "
                                 "importer said at the start that it would");
    }
    const khz_fmu_status status = khz_fmu_refresh(f); /* values before the event */
    f->head.mode = KHZ_FMU_EVENT_MODE;
    f->head.needs_event = 1;
    if (status == KHZ_FMU_OK && f->model->n_recorded > 0) {
        khz_delay_push(f->model, f->instance, f->delayed);
    }
    return status;
}

khz_fmu_status khz_fmu_continue(khz_fmu *f)
{
    if (f->head.mode != KHZ_FMU_EVENT_MODE || f->stepper != NULL) {
        return khz_fmu_refuse(f, "Continuous-Time Mode is entered from Event Mode, in Model Exchange");
    }
    f->head.mode = KHZ_FMU_CONTINUOUS;
    return KHZ_FMU_OK;
}

/* An importer may stop short of a time event by the rounding of its own clock: the event is due all the same. */
static void come_to_event(khz_fmu *f)
{
    khz_context *const c = context(f);
    const double next = khz_next_time_event(f->model, f->instance, f->at);
    if (next > c->time && next <= c->time + NEAR_INSTANT * fabs(c->time)) {
        c->time = next;
    }
}

khz_fmu_status khz_fmu_event(khz_fmu *f, khz_fmu_news *news)
{
    const khz_model *const m = f->model;
    const size_t bytes = sizeof(double) * (size_t)m->n_x;
    memset(news, 0, sizeof *news);
    if (f->stepper != NULL) {
        return khz_fmu_step_event(f, news);
    }
    if (f->head.needs_event) {
        khz_fmu_status before = khz_fmu_refresh(f);
        if (before != KHZ_FMU_OK) {
            return before;
        }
        memcpy(f->x, khz_reals(f->instance, m->x), bytes);
        come_to_event(f);
        (void)khz_mark_samples(m, f->instance);
        const khz_status status = khz_event(m, f->instance);
        news->terminate = status == KHZ_TERMINATED;
        if (status < 0) {
            return khz_fmu_failed(f, status, KHZ_FMU_ERROR);
        }
        news->states_changed = memcmp(f->x, khz_reals(f->instance, m->x), bytes) != 0;
        f->head.needs_event = 0;
        moved(f);
        if (m->n_recorded > 0 && !news->terminate) {
            before = khz_fmu_refresh(f);
            khz_delay_push(m, f->instance, f->delayed);
        }
    }
    news->next_event = khz_next_time_event(m, f->instance, f->at);
    news->has_next_event = news->next_event <= DBL_MAX;
    return KHZ_FMU_OK;
}

khz_fmu_status khz_fmu_accepted(khz_fmu *f)
{
    const khz_fmu_status status = khz_fmu_refresh(f);
    if (status != KHZ_FMU_OK) {
        return status;
    }
    if (f->model->n_recorded > 0) {
        khz_delay_push(f->model, f->instance, f->delayed);
    }
    const khz_status asserted = f->model->asserts(f->instance);
    return asserted == KHZ_OK ? KHZ_FMU_OK : khz_fmu_failed(f, asserted, KHZ_FMU_ERROR);
}

/* ------------------------------------------------------------------------------------------------ directional
 * derivatives */

/* Position of a value in an area of n doubles; -1: it is not there. */
static ptrdiff_t position(uint32_t reference, size_t area, int32_t n)
{
    const khz_fmu_value *const v = &khz_fmu_described.values[reference];
    if (v->place != KHZ_FMU_STORED || v->sign < 0 || v->offset < area || v->offset >= area + 8U * (size_t)n) {
        return -1;
    }
    return (ptrdiff_t)((v->offset - area) / 8U);
}

static int all_in(const uint32_t *references, size_t n_references, size_t area, int32_t n)
{
    for (size_t i = 0; i < n_references; i++) {
        if (position(references[i], area, n) < 0) {
            return 0;
        }
    }
    return 1;
}

/* From states to derivatives, symbolically; 0 where that gives no numbers. */
static int symbolic(khz_fmu *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns, size_t n_knowns,
                    const double *seed, double *sensitivity)
{
    const khz_model *const m = f->model;
    int fine = 1;
    memset(sensitivity, 0, sizeof(double) * n_unknowns);
    for (size_t k = 0; k < n_knowns; k++) {
        const int32_t j = (int32_t)position(knowns[k], m->x, m->n_x);
        fine &= khz_along_column(m, f->instance, j, seed[k]) == KHZ_OK;
        for (size_t i = 0; i < n_unknowns; i++) {
            sensitivity[i] += khz_rate_along(m, f->instance, (int32_t)position(unknowns[i], m->xd, m->n_x), j);
            fine &= fabs(sensitivity[i]) <= DBL_MAX;
        }
    }
    return fine;
}

static double *place_of(const khz_fmu *f, uint32_t reference)
{
    return khz_reals(f->instance, khz_fmu_described.values[reference].offset);
}

/* The knowns moved along the seed by h. */
static void move(khz_fmu *f, const uint32_t *knowns, size_t n_knowns, const double *seed, double h)
{
    for (size_t i = 0; i < n_knowns; i++) {
        *place_of(f, knowns[i]) += khz_fmu_described.values[knowns[i]].sign * h * seed[i];
    }
    moved(f);
}

/* Central differences along the seed. */
static khz_fmu_status differences(khz_fmu *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                                  size_t n_knowns, const double *seed, double *sensitivity)
{
    double h = (double)INFINITY;
    for (size_t i = 0; i < n_knowns; i++) {
        h = seed[i] != 0.0 ? fmin(h, cbrt(DBL_EPSILON) * fmax(1.0, fabs(*place_of(f, knowns[i]))) / fabs(seed[i])) : h;
    }
    memset(sensitivity, 0, sizeof(double) * n_unknowns);
    if (h > DBL_MAX) {
        return KHZ_FMU_OK; /* no direction, no change */
    }
    khz_fmu_status status = KHZ_FMU_OK;
    for (int side = 1; side >= -1 && status == KHZ_FMU_OK; side -= 2) {
        move(f, knowns, n_knowns, seed, side * h);
        status = khz_fmu_refresh(f);
        for (size_t i = 0; i < n_unknowns && status == KHZ_FMU_OK; i++) {
            double value = 0.0;
            status = khz_fmu_get_real(f, unknowns[i], &value);
            sensitivity[i] += side * value / (2.0 * h);
        }
        move(f, knowns, n_knowns, seed, -side * h);
    }
    const khz_fmu_status back = khz_fmu_refresh(f);
    return status == KHZ_FMU_OK ? back : status;
}

/* Something that can be moved by itself: a state or a Real input. */
static int can_move(const khz_fmu *f, uint32_t reference)
{
    const khz_fmu_table *const t = &khz_fmu_described;
    if (reference >= t->n_values || t->values[reference].type != KHZ_FMU_REAL) {
        return 0;
    }
    return t->values[reference].role == KHZ_FMU_INPUT || position(reference, f->model->x, f->model->n_x) >= 0;
}

khz_fmu_status khz_fmu_directional(khz_fmu *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                                   size_t n_knowns, const double *seed, double *sensitivity)
{
    const khz_model *const m = f->model;
    if (f->stepper != NULL || (f->head.mode != KHZ_FMU_EVENT_MODE && f->head.mode != KHZ_FMU_CONTINUOUS)) {
        return khz_fmu_refuse(f, "directional derivatives are there in Event and Continuous-Time Mode alone");
    }
    for (size_t i = 0; i < n_knowns; i++) {
        if (!can_move(f, knowns[i])) {
            return khz_fmu_refuse(f, "a known of a directional derivative is neither a state nor a Real input");
        }
    }
    const khz_fmu_status status = khz_fmu_refresh(f);
    if (status != KHZ_FMU_OK) {
        return status;
    }
    const int can = m->directional != NULL && m->n_z == 0 && all_in(knowns, n_knowns, m->x, m->n_x) &&
                    all_in(unknowns, n_unknowns, m->xd, m->n_x);
    if (can && symbolic(f, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity)) {
        return KHZ_FMU_OK;
    }
    return differences(f, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity);
}
