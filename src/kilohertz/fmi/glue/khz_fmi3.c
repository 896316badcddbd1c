/* The functions of FMI 3.0 (Model Exchange and Co-Simulation) over khz_fmu.h.  Declared here, as the standard has
 * them: no header of others is needed to compile an FMU.  Types that no variable of ours has and scheduled execution
 * are refused. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "khz_fmu.h"

#define JOIN_NOW(a, b) a##b
#define JOIN(a, b) JOIN_NOW(a, b)
#ifdef FMI3_FUNCTION_PREFIX /* linked statically, beside other FMUs */
#define FMI3(name) JOIN(FMI3_FUNCTION_PREFIX, name)
#else
#define FMI3(name) name
#endif
#define FUNCTION KHZ_FMI_API khz_fmu_status

typedef uint32_t reference;
typedef const char *text;
typedef void (*log_function)(void *environment, int status, text category, text message);
typedef void (*update_function)(void *environment, double time, bool set_requested, bool get_allowed,
                                bool step_finished, bool can_return_early, bool *return_requested, double *return_at);

static void log_message(const khz_fmu *f, khz_fmu_status status, const char *category, const char *message)
{
    union {
        void *address;
        log_function call;
    } to = {f->callback};
    if (to.call != NULL) {
        to.call(f->environment, (int)status, category, message);
    }
}

/* Intermediate update: values are those at the end of a step of the method, and inputs count from the next one on. */
static double update(khz_fmu *f, double time)
{
    union {
        void *address;
        update_function call;
    } to = {f->updating};
    bool is_requested = false;
    double at = time;
    to.call(f->environment, time, true, true, true, f->may_return_early, &is_requested, &at);
    return is_requested ? at : (double)INFINITY;
}

static khz_fmu *instantiate(khz_fmu f, int is_stepped, text name, text token, text resources, log_function call)
{
    union {
        log_function call;
        void *address;
    } to = {call};
    f.log = log_message;
    f.callback = to.address;
    return khz_fmu_new(f, is_stepped, name != NULL ? name : "", token, resources);
}

/* ----------------------------------------------------------------------------------------------------------- common */

KHZ_FMI_API text FMI3(fmi3GetVersion)(void) { return "3.0"; }

FUNCTION FMI3(fmi3SetDebugLogging)(khz_fmu *f, bool on, size_t n_categories, const text categories[])
{
    (void)n_categories;
    (void)categories; /* there is little to say: all of it, or errors alone */
    f->is_logging = on;
    return KHZ_FMU_OK;
}

KHZ_FMI_API khz_fmu *FMI3(fmi3InstantiateModelExchange)(text name, text token, text resources, bool visible,
                                                        bool logging, void *environment, log_function call)
{
    const khz_fmu f = {.is_logging = logging, .environment = environment};
    (void)visible;
    return instantiate(f, 0, name, token, resources, call);
}

KHZ_FMI_API khz_fmu *FMI3(fmi3InstantiateCoSimulation)(text name, text token, text resources, bool visible,
                                                       bool logging, bool event_mode, bool early_return,
                                                       const reference intermediate[], size_t n_intermediate,
                                                       void *environment, log_function call, update_function updating)
{
    union {
        update_function call;
        void *address;
    } to = {updating};
    khz_fmu f = {.is_logging = logging, .environment = environment};
    (void)visible;
    (void)intermediate; /* all of them are there at any instant */
    (void)n_intermediate;
    f.has_event_mode = event_mode;
    f.may_return_early = early_return;
    f.updating = to.address;
    f.update = updating != NULL ? update : NULL;
    return instantiate(f, 1, name, token, resources, call);
}

KHZ_FMI_API khz_fmu *FMI3(fmi3InstantiateScheduledExecution)(text name, text token, text resources, bool visible,
                                                             bool logging, void *environment, log_function call,
                                                             void *update, void *lock, void *unlock)
{
    (void)name;
    (void)token;
    (void)resources;
    (void)visible;
    (void)logging;
    (void)update;
    (void)lock;
    (void)unlock;
    if (call != NULL) {
        call(environment, (int)KHZ_FMU_ERROR, "logStatusError", "this FMU has no Scheduled Execution");
    }
    return NULL;
}

KHZ_FMI_API void FMI3(fmi3FreeInstance)(khz_fmu *f)
{
    if (f != NULL) {
        khz_fmu_free(f);
    }
}

FUNCTION FMI3(fmi3EnterInitializationMode)(khz_fmu *f, bool has_tolerance, double tolerance, double start,
                                           bool has_stop, double stop)
{
    (void)has_tolerance;
    (void)tolerance; /* steps are fixed */
    return khz_fmu_begin(f, start, has_stop, stop);
}

FUNCTION FMI3(fmi3ExitInitializationMode)(khz_fmu *f) { return khz_fmu_started(f); }
FUNCTION FMI3(fmi3Terminate)(khz_fmu *f) { return khz_fmu_terminate(f); }
FUNCTION FMI3(fmi3Reset)(khz_fmu *f) { return khz_fmu_reset(f); }

/* ----------------------------------------------------------------------------------------------------------- values */

FUNCTION FMI3(fmi3GetFloat64)(khz_fmu *f, const reference r[], size_t n, double value[], size_t n_values)
{
    khz_fmu_place p = {0, 0};
    khz_fmu_status status = khz_fmu_fits(f, r, n, n_values) ? khz_fmu_refresh(f) : KHZ_FMU_ERROR;
    for (size_t i = 0; i < n_values && status == KHZ_FMU_OK; i++) {
        status = khz_fmu_get_real(f, khz_fmu_next(r, &p), &value[i]);
    }
    return status;
}

FUNCTION FMI3(fmi3GetInt32)(khz_fmu *f, const reference r[], size_t n, int32_t value[], size_t n_values)
{
    khz_fmu_place p = {0, 0};
    khz_fmu_status status = khz_fmu_fits(f, r, n, n_values) ? khz_fmu_refresh(f) : KHZ_FMU_ERROR;
    for (size_t i = 0; i < n_values && status == KHZ_FMU_OK; i++) {
        status = khz_fmu_get_whole(f, khz_fmu_next(r, &p), KHZ_FMU_INTEGER, &value[i]);
    }
    return status;
}

/* Enumerations. */
FUNCTION FMI3(fmi3GetInt64)(khz_fmu *f, const reference r[], size_t n, int64_t value[], size_t n_values)
{
    khz_fmu_place p = {0, 0};
    khz_fmu_status status = khz_fmu_fits(f, r, n, n_values) ? khz_fmu_refresh(f) : KHZ_FMU_ERROR;
    for (size_t i = 0; i < n_values && status == KHZ_FMU_OK; i++) {
        int32_t stored = 0;
        status = khz_fmu_get_whole(f, khz_fmu_next(r, &p), KHZ_FMU_INTEGER, &stored);
        value[i] = stored;
    }
    return status;
}

FUNCTION FMI3(fmi3GetBoolean)(khz_fmu *f, const reference r[], size_t n, bool value[], size_t n_values)
{
    khz_fmu_place p = {0, 0};
    khz_fmu_status status = khz_fmu_fits(f, r, n, n_values) ? khz_fmu_refresh(f) : KHZ_FMU_ERROR;
    for (size_t i = 0; i < n_values && status == KHZ_FMU_OK; i++) {
        int32_t stored = 0;
        status = khz_fmu_get_whole(f, khz_fmu_next(r, &p), KHZ_FMU_BOOLEAN, &stored);
        value[i] = stored != 0;
    }
    return status;
}

FUNCTION FMI3(fmi3GetString)(khz_fmu *f, const reference r[], size_t n, text value[], size_t n_values)
{
    khz_fmu_place p = {0, 0};
    khz_fmu_status status = khz_fmu_fits(f, r, n, n_values) ? khz_fmu_refresh(f) : KHZ_FMU_ERROR;
    for (size_t i = 0; i < n_values && status == KHZ_FMU_OK; i++) {
        status = khz_fmu_get_text(f, khz_fmu_next(r, &p), &value[i]);
    }
    return status;
}

FUNCTION FMI3(fmi3SetFloat64)(khz_fmu *f, const reference r[], size_t n, const double value[], size_t n_values)
{
    khz_fmu_place p = {0, 0};
    khz_fmu_status status = khz_fmu_fits(f, r, n, n_values) ? KHZ_FMU_OK : KHZ_FMU_ERROR;
    for (size_t i = 0; i < n_values && status == KHZ_FMU_OK; i++) {
        status = khz_fmu_set_real(f, khz_fmu_next(r, &p), value[i]);
    }
    return status;
}

FUNCTION FMI3(fmi3SetInt32)(khz_fmu *f, const reference r[], size_t n, const int32_t value[], size_t n_values)
{
    khz_fmu_place p = {0, 0};
    khz_fmu_status status = khz_fmu_fits(f, r, n, n_values) ? KHZ_FMU_OK : KHZ_FMU_ERROR;
    for (size_t i = 0; i < n_values && status == KHZ_FMU_OK; i++) {
        status = khz_fmu_set_whole(f, khz_fmu_next(r, &p), KHZ_FMU_INTEGER, value[i]);
    }
    return status;
}

/* Enumerations. */
FUNCTION FMI3(fmi3SetInt64)(khz_fmu *f, const reference r[], size_t n, const int64_t value[], size_t n_values)
{
    khz_fmu_place p = {0, 0};
    khz_fmu_status status = khz_fmu_fits(f, r, n, n_values) ? KHZ_FMU_OK : KHZ_FMU_ERROR;
    for (size_t i = 0; i < n_values && status == KHZ_FMU_OK; i++) {
        const int inside = value[i] >= INT32_MIN && value[i] <= INT32_MAX;
        status = inside ? khz_fmu_set_whole(f, khz_fmu_next(r, &p), KHZ_FMU_INTEGER, (int32_t)value[i])
                        : khz_fmu_refuse(f, "the number of a literal is too large");
    }
    return status;
}

FUNCTION FMI3(fmi3SetBoolean)(khz_fmu *f, const reference r[], size_t n, const bool value[], size_t n_values)
{
    khz_fmu_place p = {0, 0};
    khz_fmu_status status = khz_fmu_fits(f, r, n, n_values) ? KHZ_FMU_OK : KHZ_FMU_ERROR;
    for (size_t i = 0; i < n_values && status == KHZ_FMU_OK; i++) {
        status = khz_fmu_set_whole(f, khz_fmu_next(r, &p), KHZ_FMU_BOOLEAN, value[i]);
    }
    return status;
}

FUNCTION FMI3(fmi3SetString)(khz_fmu *f, const reference r[], size_t n, const text value[], size_t n_values)
{
    khz_fmu_place p = {0, 0};
    khz_fmu_status status = khz_fmu_fits(f, r, n, n_values) ? KHZ_FMU_OK : KHZ_FMU_ERROR;
    for (size_t i = 0; i < n_values && status == KHZ_FMU_OK; i++) {
        status = khz_fmu_set_text(f, khz_fmu_next(r, &p), value[i]);
    }
    return status;
}

/* Types that no variable has: there is no value reference that fits. */
#define NO_TYPE(get, set, type)                                                                                        \
    FUNCTION FMI3(get)(khz_fmu * f, const reference r[], size_t n, type value[], size_t n_values)                      \
    {                                                                                                                  \
        (void)r;                                                                                                       \
        (void)value;                                                                                                   \
        (void)n_values;                                                                                                \
        return n == 0 ? KHZ_FMU_OK : khz_fmu_refuse(f, "no variable has this type");                                   \
    }                                                                                                                  \
    FUNCTION FMI3(set)(khz_fmu * f, const reference r[], size_t n, const type value[], size_t n_values)                \
    {                                                                                                                  \
        (void)r;                                                                                                       \
        (void)value;                                                                                                   \
        (void)n_values;                                                                                                \
        return n == 0 ? KHZ_FMU_OK : khz_fmu_refuse(f, "no variable has this type");                                   \
    }

NO_TYPE(fmi3GetFloat32, fmi3SetFloat32, float)
NO_TYPE(fmi3GetInt8, fmi3SetInt8, int8_t)
NO_TYPE(fmi3GetUInt8, fmi3SetUInt8, uint8_t)
NO_TYPE(fmi3GetInt16, fmi3SetInt16, int16_t)
NO_TYPE(fmi3GetUInt16, fmi3SetUInt16, uint16_t)
NO_TYPE(fmi3GetUInt32, fmi3SetUInt32, uint32_t)
NO_TYPE(fmi3GetUInt64, fmi3SetUInt64, uint64_t)

/* Functions for what the model description does not offer.  Their arguments are not looked at. */
#define NOT_OFFERED(name, words)                                                                                       \
    FUNCTION FMI3(name)(khz_fmu * f) { return khz_fmu_refuse(f, words); }

NOT_OFFERED(fmi3GetBinary, "no variable has this type")
NOT_OFFERED(fmi3SetBinary, "no variable has this type")
NOT_OFFERED(fmi3GetIntervalFraction, "clocks have their intervals as decimals: supportsFraction is false")
NOT_OFFERED(fmi3GetShiftFraction, "clocks have their shifts as decimals: supportsFraction is false")
NOT_OFFERED(fmi3SetIntervalDecimal, "the interval of a clock follows from the model")
NOT_OFFERED(fmi3SetIntervalFraction, "the interval of a clock follows from the model")
NOT_OFFERED(fmi3SetShiftDecimal, "the shift of a clock follows from the model")
NOT_OFFERED(fmi3SetShiftFraction, "the shift of a clock follows from the model")
NOT_OFFERED(fmi3ActivateModelPartition, "this FMU has no Scheduled Execution")
NOT_OFFERED(fmi3GetNumberOfVariableDependencies, "dependencies stand in the model description")
NOT_OFFERED(fmi3GetVariableDependencies, "dependencies stand in the model description")
NOT_OFFERED(fmi3GetAdjointDerivative, "there are no adjoint derivatives: providesAdjointDerivatives is false")
NOT_OFFERED(fmi3EnterConfigurationMode, "there are no structural parameters")
NOT_OFFERED(fmi3ExitConfigurationMode, "there are no structural parameters")
NOT_OFFERED(fmi3GetOutputDerivatives, "there are no derivatives of outputs: maxOutputDerivativeOrder is 0")

/* ----------------------------------------------------------------------------------------------------------- clocks */

enum { INTERVAL_UNCHANGED = 1 };

FUNCTION FMI3(fmi3GetClock)(khz_fmu *f, const reference r[], size_t n, bool value[])
{
    khz_fmu_status status = KHZ_FMU_OK;
    for (size_t i = 0; i < n && status == KHZ_FMU_OK; i++) {
        int32_t *const ticks = khz_fmu_clock(f, r[i]);
        status = ticks != NULL ? KHZ_FMU_OK : KHZ_FMU_ERROR;
        value[i] = ticks != NULL && *ticks != 0;
    }
    return status;
}

FUNCTION FMI3(fmi3SetClock)(khz_fmu *f, const reference r[], size_t n, const bool value[])
{
    khz_fmu_status status =
        f->head.mode == KHZ_FMU_EVENT_MODE ? KHZ_FMU_OK : khz_fmu_refuse(f, "a clock ticks in Event Mode");
    for (size_t i = 0; i < n && status == KHZ_FMU_OK; i++) {
        int32_t *const ticks = khz_fmu_clock(f, r[i]);
        status = ticks != NULL ? KHZ_FMU_OK : KHZ_FMU_ERROR;
        if (ticks != NULL) {
            *ticks = value[i];
            f->head.needs_event = 1;
        }
    }
    return status;
}

FUNCTION FMI3(fmi3GetIntervalDecimal)(khz_fmu *f, const reference r[], size_t n, double interval[], int qualifier[])
{
    khz_fmu_status status = khz_fmu_refresh(f);
    for (size_t i = 0; i < n && status == KHZ_FMU_OK; i++) {
        status = khz_fmu_clock_times(f, r[i], &interval[i], NULL);
        qualifier[i] = INTERVAL_UNCHANGED;
    }
    return status;
}

FUNCTION FMI3(fmi3GetShiftDecimal)(khz_fmu *f, const reference r[], size_t n, double shift[])
{
    khz_fmu_status status = khz_fmu_refresh(f);
    for (size_t i = 0; i < n && status == KHZ_FMU_OK; i++) {
        status = khz_fmu_clock_times(f, r[i], NULL, &shift[i]);
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------------------- states */

FUNCTION FMI3(fmi3GetFMUState)(khz_fmu *f, khz_fmu_state **state) { return khz_fmu_get_state(f, state); }
FUNCTION FMI3(fmi3SetFMUState)(khz_fmu *f, khz_fmu_state *state) { return khz_fmu_set_state(f, state); }

FUNCTION FMI3(fmi3FreeFMUState)(khz_fmu *f, khz_fmu_state **state)
{
    (void)f;
    khz_fmu_free_state(*state);
    *state = NULL;
    return KHZ_FMU_OK;
}

FUNCTION FMI3(fmi3SerializedFMUStateSize)(khz_fmu *f, khz_fmu_state *state, size_t *size)
{
    (void)state;
    *size = khz_fmu_state_size(f);
    return KHZ_FMU_OK;
}

FUNCTION FMI3(fmi3SerializeFMUState)(khz_fmu *f, khz_fmu_state *state, uint8_t bytes[], size_t size)
{
    return khz_fmu_write_state(f, state, bytes, size);
}

FUNCTION FMI3(fmi3DeserializeFMUState)(khz_fmu *f, const uint8_t bytes[], size_t size, khz_fmu_state **state)
{
    return khz_fmu_read_state(f, bytes, size, state);
}

FUNCTION FMI3(fmi3GetDirectionalDerivative)(khz_fmu *f, const reference unknowns[], size_t n_unknowns,
                                            const reference knowns[], size_t n_knowns, const double seed[],
                                            size_t n_seed, double sensitivity[], size_t n_sensitivity)
{
    const reference *const from = khz_fmu_single(f, knowns, n_knowns, n_seed, f->expanded);
    const reference *const to =
        khz_fmu_single(f, unknowns, n_unknowns, n_sensitivity, f->expanded + khz_fmu_described.n_values);
    if (from == NULL || to == NULL) {
        return KHZ_FMU_ERROR;
    }
    return khz_fmu_directional(f, to, n_sensitivity, from, n_seed, seed, sensitivity);
}

/* --------------------------------------------------------------------------------------------------- Model Exchange */

FUNCTION FMI3(fmi3EnterEventMode)(khz_fmu *f) { return khz_fmu_enter_event(f); }
FUNCTION FMI3(fmi3EvaluateDiscreteStates)(khz_fmu *f) { return khz_fmu_refresh(f); }

FUNCTION FMI3(fmi3UpdateDiscreteStates)(khz_fmu *f, bool *update_again, bool *terminate, bool *nominals_changed,
                                        bool *states_changed, bool *has_next_event, double *next_event)
{
    khz_fmu_news news;
    const khz_fmu_status status = khz_fmu_event(f, &news);
    *update_again = false;
    *terminate = news.terminate;
    *nominals_changed = false;
    *states_changed = news.states_changed;
    *has_next_event = news.has_next_event;
    *next_event = news.next_event;
    return status;
}

FUNCTION FMI3(fmi3EnterContinuousTimeMode)(khz_fmu *f) { return khz_fmu_continue(f); }

FUNCTION FMI3(fmi3CompletedIntegratorStep)(khz_fmu *f, bool no_return, bool *enter_event, bool *terminate)
{
    (void)no_return;
    *enter_event = false;
    *terminate = false;
    return khz_fmu_accepted(f);
}

FUNCTION FMI3(fmi3SetTime)(khz_fmu *f, double time)
{
    khz_fmu_set_time(f, time);
    return KHZ_FMU_OK;
}

FUNCTION FMI3(fmi3SetContinuousStates)(khz_fmu *f, const double x[], size_t n)
{
    return khz_fmu_count(f, n, f->model->n_x) ? khz_fmu_set_states(f, x) : KHZ_FMU_ERROR;
}

FUNCTION FMI3(fmi3GetContinuousStateDerivatives)(khz_fmu *f, double xd[], size_t n)
{
    return khz_fmu_count(f, n, f->model->n_x) ? khz_fmu_derivatives(f, xd) : KHZ_FMU_ERROR;
}

FUNCTION FMI3(fmi3GetEventIndicators)(khz_fmu *f, double z[], size_t n)
{
    return khz_fmu_count(f, n, f->model->n_r) ? khz_fmu_indicators(f, z) : KHZ_FMU_ERROR;
}

FUNCTION FMI3(fmi3GetContinuousStates)(khz_fmu *f, double x[], size_t n)
{
    return khz_fmu_count(f, n, f->model->n_x) ? khz_fmu_states(f, x) : KHZ_FMU_ERROR;
}

FUNCTION FMI3(fmi3GetNominalsOfContinuousStates)(khz_fmu *f, double nominal[], size_t n)
{
    return khz_fmu_count(f, n, f->model->n_x) ? khz_fmu_nominals(f, nominal) : KHZ_FMU_ERROR;
}

FUNCTION FMI3(fmi3GetNumberOfEventIndicators)(khz_fmu *f, size_t *n)
{
    *n = (size_t)f->model->n_r;
    return KHZ_FMU_OK;
}

FUNCTION FMI3(fmi3GetNumberOfContinuousStates)(khz_fmu *f, size_t *n)
{
    *n = (size_t)f->model->n_x;
    return KHZ_FMU_OK;
}

/* ---------------------------------------------------------------------------------------------------- Co-Simulation */

FUNCTION FMI3(fmi3EnterStepMode)(khz_fmu *f) { return khz_fmu_enter_step(f); }

FUNCTION FMI3(fmi3DoStep)(khz_fmu *f, double time, double length, bool no_return, bool *event_needed, bool *terminate,
                          bool *early_return, double *reached)
{
    (void)no_return;
    khz_fmu_step_end end;
    const khz_fmu_status status = khz_fmu_step(f, time, length, &end);
    *event_needed = f->has_event_mode && end.has_events;
    *terminate = end.terminated;
    *early_return = end.is_early;
    *reached = khz_fmu_time(f);
    return status;
}
