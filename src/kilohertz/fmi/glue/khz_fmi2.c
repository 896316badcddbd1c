/* The functions of FMI 2.0 (Model Exchange and Co-Simulation) over khz_fmu.h.  Declared here, as the standard has
 * them: no header of others is needed to compile an FMU. */
#include <stdlib.h>
#include <string.h>

#include "khz_fmu.h"

#define JOIN_NOW(a, b) a##b
#define JOIN(a, b) JOIN_NOW(a, b)
#ifdef FMI2_FUNCTION_PREFIX /* linked statically, beside other FMUs */
#define FMI2(name) JOIN(FMI2_FUNCTION_PREFIX, name)
#else
#define FMI2(name) name
#endif
#define FUNCTION KHZ_FMI_API khz_fmu_status

typedef unsigned int reference;
typedef int boolean;
typedef const char *text;

/* fmi2CallbackFunctions. */
typedef struct callbacks {
    void (*logger)(void *environment, text instance, int status, text category, text message, ...);
    void *(*allocate)(size_t n, size_t size);
    void (*release)(void *memory);
    void (*step_finished)(void *environment, int status);
    void *environment;
} callbacks;

/* fmi2EventInfo. */
typedef struct event_info {
    boolean new_discrete_states_needed, terminate, nominals_changed, states_changed, has_next_event;
    double next_event;
} event_info;

enum { FMI2_CO_SIMULATION = 1, FMI2_DO_STEP_STATUS = 0, FMI2_LAST_SUCCESSFUL_TIME = 2, FMI2_TERMINATED = 3 };

static void log_message(const khz_fmu *f, khz_fmu_status status, const char *category, const char *message)
{
    const callbacks *const c = (const callbacks *)f->callback;
    if (c->logger != NULL) {
        c->logger(c->environment, f->name, (int)status, category, "%s", message);
    }
}

/* The path of a URI, `%20` and the like decoded; NULL: it is none of a file.  To be freed. */
static char *path_of(text uri)
{
    const char *from = uri;
    if (uri == NULL) {
        return NULL;
    }
    if (strncmp(from, "file:", 5) == 0) {
        from += 5;
        from += strncmp(from, "//localhost/", 12) == 0 ? 11 : strncmp(from, "///", 3) == 0 ? 2 : 0;
#if defined(_WIN32)
        from += from[0] == '/' && from[1] != '\0' && from[2] == ':';
#endif
    } else if (strstr(from, "://") != NULL) {
        return NULL;
    }
    char *const path = (char *)malloc(strlen(from) + 1U);
    char *to = path;
    while (path != NULL && *from != '\0') {
        const char digits[3] = {from[0] == '%' ? from[1] : '\0', from[0] == '%' && from[1] != '\0' ? from[2] : '\0',
                                '\0'};
        char *end = NULL;
        const long code = strtol(digits, &end, 16);
        const int is_code = end == digits + 2 && digits[1] != '\0';
        *to++ = is_code ? (char)code : *from;
        from += is_code ? 3 : 1;
    }
    if (path != NULL) {
        *to = '\0';
        while (to > path + 1 && to[-1] == '/') {
            *--to = '\0';
        }
    }
    return path;
}

/* ----------------------------------------------------------------------------------------------------------- common */

KHZ_FMI_API text FMI2(fmi2GetTypesPlatform)(void) { return "default"; }
KHZ_FMI_API text FMI2(fmi2GetVersion)(void) { return "2.0"; }

FUNCTION FMI2(fmi2SetDebugLogging)(khz_fmu *f, boolean on, size_t n_categories, const text categories[])
{
    (void)n_categories;
    (void)categories; /* there is little to say: all of it, or errors alone */
    f->is_logging = on;
    return KHZ_FMU_OK;
}

KHZ_FMI_API khz_fmu *FMI2(fmi2Instantiate)(text name, int type, text guid, text resources, const callbacks *c,
                                           boolean visible, boolean logging)
{
    (void)visible;
    khz_fmu f = {0};
    f.log = log_message;
    f.is_logging = logging;
    f.callback = (void *)(uintptr_t)c;
    char *const folder = path_of(resources);
    khz_fmu *const made = khz_fmu_new(f, type == FMI2_CO_SIMULATION, name != NULL ? name : "", guid, folder);
    free(folder);
    return made;
}

KHZ_FMI_API void FMI2(fmi2FreeInstance)(khz_fmu *f)
{
    if (f != NULL) {
        khz_fmu_free(f);
    }
}

FUNCTION FMI2(fmi2SetupExperiment)(khz_fmu *f, boolean has_tolerance, double tolerance, double start, boolean has_stop,
                                   double stop)
{
    (void)has_tolerance;
    (void)tolerance; /* steps are fixed */
    if (f->head.mode != KHZ_FMU_INSTANTIATED) {
        return khz_fmu_refuse(f, "an experiment is set up before the initialisation");
    }
    f->head.start = start;
    f->head.has_stop = has_stop;
    f->head.stop = stop;
    return KHZ_FMU_OK;
}

FUNCTION FMI2(fmi2EnterInitializationMode)(khz_fmu *f)
{
    return khz_fmu_begin(f, f->head.start, f->head.has_stop, f->head.stop);
}

FUNCTION FMI2(fmi2ExitInitializationMode)(khz_fmu *f) { return khz_fmu_started(f); }
FUNCTION FMI2(fmi2Terminate)(khz_fmu *f) { return khz_fmu_terminate(f); }
FUNCTION FMI2(fmi2Reset)(khz_fmu *f) { return khz_fmu_reset(f); }

/* ----------------------------------------------------------------------------------------------------------- values */

FUNCTION FMI2(fmi2GetReal)(khz_fmu *f, const reference r[], size_t n, double value[])
{
    khz_fmu_status status = khz_fmu_refresh(f);
    for (size_t i = 0; i < n && status == KHZ_FMU_OK; i++) {
        status = khz_fmu_get_real(f, r[i], &value[i]);
    }
    return status;
}

FUNCTION FMI2(fmi2GetInteger)(khz_fmu *f, const reference r[], size_t n, int value[])
{
    khz_fmu_status status = khz_fmu_refresh(f);
    for (size_t i = 0; i < n && status == KHZ_FMU_OK; i++) {
        status = khz_fmu_get_whole(f, r[i], KHZ_FMU_INTEGER, &value[i]);
    }
    return status;
}

FUNCTION FMI2(fmi2GetBoolean)(khz_fmu *f, const reference r[], size_t n, boolean value[])
{
    khz_fmu_status status = khz_fmu_refresh(f);
    for (size_t i = 0; i < n && status == KHZ_FMU_OK; i++) {
        status = khz_fmu_get_whole(f, r[i], KHZ_FMU_BOOLEAN, &value[i]);
    }
    return status;
}

FUNCTION FMI2(fmi2GetString)(khz_fmu *f, const reference r[], size_t n, text value[])
{
    khz_fmu_status status = khz_fmu_refresh(f);
    for (size_t i = 0; i < n && status == KHZ_FMU_OK; i++) {
        status = khz_fmu_get_text(f, r[i], &value[i]);
    }
    return status;
}

FUNCTION FMI2(fmi2SetReal)(khz_fmu *f, const reference r[], size_t n, const double value[])
{
    khz_fmu_status status = KHZ_FMU_OK;
    for (size_t i = 0; i < n && status == KHZ_FMU_OK; i++) {
        status = khz_fmu_set_real(f, r[i], value[i]);
    }
    return status;
}

FUNCTION FMI2(fmi2SetInteger)(khz_fmu *f, const reference r[], size_t n, const int value[])
{
    khz_fmu_status status = KHZ_FMU_OK;
    for (size_t i = 0; i < n && status == KHZ_FMU_OK; i++) {
        status = khz_fmu_set_whole(f, r[i], KHZ_FMU_INTEGER, value[i]);
    }
    return status;
}

FUNCTION FMI2(fmi2SetBoolean)(khz_fmu *f, const reference r[], size_t n, const boolean value[])
{
    khz_fmu_status status = KHZ_FMU_OK;
    for (size_t i = 0; i < n && status == KHZ_FMU_OK; i++) {
        status = khz_fmu_set_whole(f, r[i], KHZ_FMU_BOOLEAN, value[i]);
    }
    return status;
}

FUNCTION FMI2(fmi2SetString)(khz_fmu *f, const reference r[], size_t n, const text value[])
{
    khz_fmu_status status = KHZ_FMU_OK;
    for (size_t i = 0; i < n && status == KHZ_FMU_OK; i++) {
        status = khz_fmu_set_text(f, r[i], value[i]);
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------------------- states */

FUNCTION FMI2(fmi2GetFMUstate)(khz_fmu *f, khz_fmu_state **state) { return khz_fmu_get_state(f, state); }
FUNCTION FMI2(fmi2SetFMUstate)(khz_fmu *f, khz_fmu_state *state) { return khz_fmu_set_state(f, state); }

FUNCTION FMI2(fmi2FreeFMUstate)(khz_fmu *f, khz_fmu_state **state)
{
    (void)f;
    khz_fmu_free_state(*state);
    *state = NULL;
    return KHZ_FMU_OK;
}

FUNCTION FMI2(fmi2SerializedFMUstateSize)(khz_fmu *f, khz_fmu_state *state, size_t *size)
{
    (void)state;
    *size = khz_fmu_state_size(f);
    return KHZ_FMU_OK;
}

FUNCTION FMI2(fmi2SerializeFMUstate)(khz_fmu *f, khz_fmu_state *state, char bytes[], size_t size)
{
    return khz_fmu_write_state(f, state, bytes, size);
}

FUNCTION FMI2(fmi2DeSerializeFMUstate)(khz_fmu *f, const char bytes[], size_t size, khz_fmu_state **state)
{
    return khz_fmu_read_state(f, bytes, size, state);
}

FUNCTION FMI2(fmi2GetDirectionalDerivative)(khz_fmu *f, const reference unknowns[], size_t n_unknowns,
                                            const reference knowns[], size_t n_knowns, const double seed[],
                                            double sensitivity[])
{
    return khz_fmu_directional(f, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity);
}

/* --------------------------------------------------------------------------------------------------- Model Exchange */

FUNCTION FMI2(fmi2EnterEventMode)(khz_fmu *f) { return khz_fmu_enter_event(f); }

FUNCTION FMI2(fmi2NewDiscreteStates)(khz_fmu *f, event_info *info)
{
    khz_fmu_news news;
    const khz_fmu_status status = khz_fmu_event(f, &news);
    const event_info said = {0, news.terminate, 0, news.states_changed, news.has_next_event, news.next_event};
    *info = said;
    return status;
}

FUNCTION FMI2(fmi2EnterContinuousTimeMode)(khz_fmu *f) { return khz_fmu_continue(f); }

FUNCTION FMI2(fmi2CompletedIntegratorStep)(khz_fmu *f, boolean no_return, boolean *enter_event, boolean *terminate)
{
    (void)no_return;
    *enter_event = 0;
    *terminate = 0;
    return khz_fmu_accepted(f);
}

FUNCTION FMI2(fmi2SetTime)(khz_fmu *f, double time)
{
    khz_fmu_set_time(f, time);
    return KHZ_FMU_OK;
}

FUNCTION FMI2(fmi2SetContinuousStates)(khz_fmu *f, const double x[], size_t n)
{
    return khz_fmu_count(f, n, f->model->n_x) ? khz_fmu_set_states(f, x) : KHZ_FMU_ERROR;
}

FUNCTION FMI2(fmi2GetDerivatives)(khz_fmu *f, double xd[], size_t n)
{
    return khz_fmu_count(f, n, f->model->n_x) ? khz_fmu_derivatives(f, xd) : KHZ_FMU_ERROR;
}

FUNCTION FMI2(fmi2GetEventIndicators)(khz_fmu *f, double z[], size_t n)
{
    return khz_fmu_count(f, n, f->model->n_r) ? khz_fmu_indicators(f, z) : KHZ_FMU_ERROR;
}

FUNCTION FMI2(fmi2GetContinuousStates)(khz_fmu *f, double x[], size_t n)
{
    return khz_fmu_count(f, n, f->model->n_x) ? khz_fmu_states(f, x) : KHZ_FMU_ERROR;
}

FUNCTION FMI2(fmi2GetNominalsOfContinuousStates)(khz_fmu *f, double nominal[], size_t n)
{
    return khz_fmu_count(f, n, f->model->n_x) ? khz_fmu_nominals(f, nominal) : KHZ_FMU_ERROR;
}

/* ---------------------------------------------------------------------------------------------------- Co-Simulation */

FUNCTION FMI2(fmi2SetRealInputDerivatives)(khz_fmu *f, const reference r[], size_t n, const int order[],
                                           const double value[])
{
    (void)r;
    (void)n;
    (void)order;
    (void)value;
    return khz_fmu_refuse(f, "inputs are not interpolated: canInterpolateInputs is false");
}

FUNCTION FMI2(fmi2GetRealOutputDerivatives)(khz_fmu *f, const reference r[], size_t n, const int order[],
                                            double value[])
{
    (void)r;
    (void)n;
    (void)order;
    (void)value;
    return khz_fmu_refuse(f, "there are no derivatives of outputs: maxOutputDerivativeOrder is 0");
}

FUNCTION FMI2(fmi2DoStep)(khz_fmu *f, double time, double length, boolean no_return)
{
    (void)no_return;
    khz_fmu_step_end end;
    const khz_fmu_status status = khz_fmu_step(f, time, length, &end);
    f->has_terminated |= end.terminated;
    return status <= KHZ_FMU_WARNING && end.terminated ? KHZ_FMU_DISCARD : status;
}

FUNCTION FMI2(fmi2CancelStep)(khz_fmu *f) { return khz_fmu_refuse(f, "no step runs beside the caller"); }

FUNCTION FMI2(fmi2GetStatus)(khz_fmu *f, int kind, khz_fmu_status *value)
{
    *value = KHZ_FMU_OK;
    return kind == FMI2_DO_STEP_STATUS ? KHZ_FMU_OK : khz_fmu_refuse(f, "there is no such status");
}

FUNCTION FMI2(fmi2GetRealStatus)(khz_fmu *f, int kind, double *value)
{
    *value = khz_fmu_time(f);
    return kind == FMI2_LAST_SUCCESSFUL_TIME ? KHZ_FMU_OK : khz_fmu_refuse(f, "there is no such status");
}

FUNCTION FMI2(fmi2GetIntegerStatus)(khz_fmu *f, int kind, int *value)
{
    (void)kind;
    *value = 0;
    return khz_fmu_refuse(f, "there is no such status");
}

FUNCTION FMI2(fmi2GetBooleanStatus)(khz_fmu *f, int kind, boolean *value)
{
    *value = f->has_terminated;
    return kind == FMI2_TERMINATED ? KHZ_FMU_OK : khz_fmu_refuse(f, "there is no such status");
}

FUNCTION FMI2(fmi2GetStringStatus)(khz_fmu *f, int kind, text *value)
{
    (void)kind;
    *value = "";
    return khz_fmu_refuse(f, "there is no such status");
}
