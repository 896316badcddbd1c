/* An FMU of Model Exchange that is called from Modelica: events, derivatives, how these change, indicators, outputs.
 * Part of khz_called_fmu.h. */
#ifndef KHZ_CALLED_EXCHANGE_H
#define KHZ_CALLED_EXCHANGE_H

#include "khz_called_life.h"

static int khz_called_update(khz_called_fmu *f)
{
    int again = 0;
    if (f->version == 2) {
        khz_called_event_2 e = {0};
        typedef int (*update)(void *, khz_called_event_2 *);
        khz_called_demand(f, "NewDiscreteStates", ((update)khz_called_need(f, "NewDiscreteStates"))(f->instance, &e));
        f->next = e.has_next ? e.next : KHZ_CALLED_NEVER;
        f->has_ended |= e.terminate;
        again = e.again;
    } else {
        typedef int (*update)(void *, bool *, bool *, bool *, bool *, bool *, double *);
        bool more = false;
        bool over = false;
        bool nominals = false;
        bool states = false;
        bool has_next = false;
        double next = 0.0;
        khz_called_demand(f, "UpdateDiscreteStates",
                          ((update)khz_called_need(f, "UpdateDiscreteStates"))(f->instance, &more, &over, &nominals,
                                                                               &states, &has_next, &next));
        f->next = has_next ? next : KHZ_CALLED_NEVER;
        f->has_ended |= over;
        again = more;
    }
    return again && !f->has_ended;
}

/* What an event leaves: the states, the next time event, 1 for the end, the number of the epoch that begins. */
static void khz_called_say(const khz_called_fmu *f, double *out)
{
    if (f->n_states > 0) {
        memcpy(out, f->after, (size_t)f->n_states * sizeof *out);
    }
    out[f->n_states] = f->next;
    out[f->n_states + 1] = f->has_ended ? 1.0 : 0.0;
    out[f->n_states + 2] = (double)f->epoch;
}

static int khz_called_same(const double *a, const double *b, int32_t n)
{
    return n == 0 || memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

/* The FMU is in Event Mode: iterate, and back to continuous time. */
static void khz_called_settle(khz_called_fmu *f)
{
    typedef int (*move)(void *, double *, size_t);
    int turn = 0;
    while (khz_called_update(f)) {
        if (++turn == KHZ_CALLED_EVENTS) {
            khz_called_fail(f, "NewDiscreteStates", "has events without end");
        }
    }
    if (f->n_states > 0) {
        const move get = f->get_states != NULL ? (move)f->get_states : (move)khz_called_need(f, "GetContinuousStates");
        khz_called_demand(f, "GetContinuousStates", get(f->instance, f->states, (size_t)f->n_states));
        memcpy(f->after, f->states, (size_t)f->n_states * sizeof *f->after);
    }
    if (!f->has_ended) {
        khz_called_plain(f, "EnterContinuousTimeMode");
    }
}

/* Time, states and inputs as given, where they are not so already. */
static void khz_called_at(khz_called_fmu *f, double time, const double *states, const double *inputs)
{
    typedef int (*move)(void *, const double *, size_t);
    const size_t n_states = (size_t)f->n_states;
    khz_called_heed(f);
    if (f->has_ended) {
        return; /* it takes nothing any more */
    }
    if (time != f->reached) {
        khz_called_demand(f, "SetTime", ((int (*)(void *, double))f->set_time)(f->instance, time));
        f->reached = time;
    }
    if (!khz_called_same(inputs, f->given, f->inputs.n_values)) {
        khz_called_give(f, inputs);
    }
    if (!khz_called_same(states, f->states, f->n_states)) {
        const move set = f->set_states != NULL ? (move)f->set_states : (move)khz_called_need(f, "SetContinuousStates");
        memcpy(f->states, states, n_states * sizeof *states);
        khz_called_demand(f, "SetContinuousStates", set(f->instance, states, n_states));
    }
}

/* What states usually are, where the FMU says it. */
static void khz_called_nominals(khz_called_fmu *f)
{
    typedef int (*ask)(void *, double *, size_t);
    double *const nominals = f->jacobian.nominals;
    const ask call = (ask)khz_called_find(f, "GetNominalsOfContinuousStates");
    if (nominals == NULL) {
        return;
    }
    const int status = call != NULL ? call(f->instance, nominals, (size_t)f->n_states) : KHZ_CALLED_DISCARD;
    for (int32_t i = 0; i < f->n_states; i++) {
        nominals[i] = status <= KHZ_CALLED_WARNING && nominals[i] > 0.0 ? nominals[i] : 1.0;
    }
}

/* Initial equations. */
static void khz_called_begin(void *object, double time, const double *inputs, double *out)
{
    khz_called_fmu *const f = (khz_called_fmu *)object;
    if (!f->has_begun) {
        khz_called_initialise(f, time, inputs);
        f->epoch = 1;
        khz_called_settle(f);
        khz_called_nominals(f);
    } else if (!khz_called_same(inputs, f->given, f->inputs.n_values)) {
        khz_called_plain(f, "EnterEventMode");
        khz_called_give(f, inputs);
        khz_called_settle(f);
    }
    khz_called_say(f, out);
}

/* An event that ends an epoch: states before it in, what it leaves out.  An event that is asked for once more (values
 * that need each other are iterated on) is not made once more. */
static void khz_called_event(void *object, double time, const double *states, const double *inputs, int epoch,
                             double *out)
{
    khz_called_fmu *const f = (khz_called_fmu *)object;
    const int is_same = epoch != f->epoch && time == f->event_time && khz_called_same(states, f->before, f->n_states) &&
                        khz_called_same(inputs, f->given, f->inputs.n_values);
    if (!is_same && !f->has_ended) {
        if (f->n_states > 0) {
            memcpy(f->before, states, (size_t)f->n_states * sizeof *f->before);
        }
        f->event_time = time;
        khz_called_at(f, time, states, f->given);
        khz_called_plain(f, "EnterEventMode");
        khz_called_give(f, inputs);
        khz_called_settle(f);
    }
    f->epoch = epoch + 1;
    khz_called_say(f, out);
}

static void khz_called_vector(khz_called_fmu *f, void *call, const char *name, double *out, int32_t n)
{
    typedef int (*get)(void *, double *, size_t);
    if (call == NULL) {
        khz_called_fail(f, name, "is missing");
    }
    if (f->has_ended) {
        memset(out, 0, (size_t)n * sizeof *out); /* nothing moves until the run is over */
        return;
    }
    khz_called_demand(f, name, ((get)call)(f->instance, out, (size_t)n));
}

static void khz_called_rates(void *object, double time, const double *states, const double *inputs, int epoch,
                             double *out)
{
    khz_called_fmu *const f = (khz_called_fmu *)object;
    (void)epoch;
    khz_called_at(f, time, states, inputs);
    khz_called_vector(f, f->rates, f->version == 2 ? "GetDerivatives" : "GetContinuousStateDerivatives", out,
                      f->n_states);
}

/* The Jacobian at a point, where it is not that already. */
static void khz_called_jacobian_at(khz_called_fmu *f, double time, const double *states, const double *inputs,
                                   int epoch)
{
    khz_called_jacobian *const j = &f->jacobian;
    const int32_t n = f->n_states;
    if (j->at_epoch == epoch && j->at_time == time && khz_called_same(states, j->at_states, n) &&
        khz_called_same(inputs, j->at_inputs, f->inputs.n_values)) {
        return;
    }
    int has_here = 0;
    for (int32_t colour = 0; colour < j->n_colours; colour++) {
        for (int32_t i = 0; i < n; i++) {
            j->moved[i] = j->colours[i] == colour ? 1.0 : 0.0;
        }
        khz_called_at(f, time, states, inputs);
        const int is_offered = khz_called_offered(j, f->instance, f->version, j->moved, j->there);
        if (!is_offered && !has_here) {
            khz_called_rates(f, time, states, inputs, epoch, j->here);
            has_here = 1;
        }
        if (!is_offered) {
            for (int32_t i = 0; i < n; i++) {
                j->moved[i] = states[i] + (j->colours[i] == colour ? khz_called_shift(j, states, i) : 0.0);
            }
            khz_called_rates(f, time, j->moved, inputs, epoch, j->there);
        }
        khz_called_keep(j, n, colour, states, !is_offered);
    }
    memcpy(j->at_states, states, (size_t)n * sizeof *states);
    if (f->inputs.n_values > 0) {
        memcpy(j->at_inputs, inputs, (size_t)f->inputs.n_values * sizeof *inputs);
    }
    j->at_time = time;
    j->at_epoch = epoch;
}

static double khz_called_largest(const double *values, int32_t n, double least)
{
    for (int32_t i = 0; i < n; i++) {
        least = fmax(least, fabs(values[i]));
    }
    return least;
}

/* How derivatives change where time, states and inputs move: by the Jacobian along states, else by a difference. */
static void khz_called_rates_along(void *object, double time, const double *states, const double *inputs, int epoch,
                                   double time_d, const double *states_d, const double *inputs_d, double *out)
{
    khz_called_fmu *const f = (khz_called_fmu *)object;
    const int32_t n = f->n_states;
    const int32_t n_inputs = f->inputs.n_values;
    double *const u = f->moved;
    double *const there = u + n_inputs;
    double *const here = there + n;
    memset(out, 0, (size_t)n * sizeof *out);
    if (f->has_ended) {
        return; /* nothing moves until the run is over */
    }
    if (khz_called_largest(states_d, n, 0.0) > 0.0) {
        khz_called_jacobian_at(f, time, states, inputs, epoch);
        khz_called_jacobian_apply(&f->jacobian, n, states_d, out);
    }
    const double far = khz_called_largest(inputs_d, n_inputs, fabs(time_d));
    if (far == 0.0) {
        return;
    }
    const double size = khz_called_largest(inputs, n_inputs, fmax(1.0, fabs(time)));
    const double h = sqrt(DBL_EPSILON) * size / far;
    for (int32_t i = 0; i < n_inputs; i++) {
        u[i] = inputs[i] + h * inputs_d[i];
    }
    khz_called_rates(object, time, states, inputs, epoch, here);
    khz_called_rates(object, time + h * time_d, states, u, epoch, there);
    for (int32_t i = 0; i < n; i++) {
        out[i] += (there[i] - here[i]) / h;
    }
    khz_called_at(f, time, states, inputs);
}

static void khz_called_crossings(void *object, double time, const double *states, const double *inputs, int epoch,
                                 double *out)
{
    khz_called_fmu *const f = (khz_called_fmu *)object;
    (void)epoch;
    khz_called_at(f, time, states, inputs);
    khz_called_vector(f, f->indicators, "GetEventIndicators", out, f->n_indicators);
}

static void khz_called_outputs(void *object, double time, const double *states, const double *inputs, int epoch,
                               double *out)
{
    khz_called_fmu *const f = (khz_called_fmu *)object;
    (void)epoch;
    khz_called_at(f, time, states, inputs);
    khz_called_get(f, &f->outputs, out);
}

/* The end of a step of the solver: 1 where the FMU wants an event, 2 where it wants to end. */
static double khz_called_completed(void *object, double time, const double *states, const double *inputs)
{
    khz_called_fmu *const f = (khz_called_fmu *)object;
    khz_called_at(f, time, states, inputs);
    if (f->has_ended) {
        return 2.0;
    }
    if (f->version == 2) {
        typedef int (*completed)(void *, int, int *, int *);
        int event = 0;
        int over = 0;
        const completed call = (completed)khz_called_need(f, "CompletedIntegratorStep");
        khz_called_demand(f, "CompletedIntegratorStep", call(f->instance, 1, &event, &over));
        return over ? 2.0 : event ? 1.0 : 0.0;
    }
    typedef int (*completed)(void *, bool, bool *, bool *);
    bool event = false;
    bool over = false;
    const completed call = (completed)khz_called_need(f, "CompletedIntegratorStep");
    khz_called_demand(f, "CompletedIntegratorStep", call(f->instance, true, &event, &over));
    return over ? 2.0 : event ? 1.0 : 0.0;
}

#endif
