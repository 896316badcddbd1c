#include "khz_fmu.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "khz_stepper_core.h"
#include "khz_text.h"

enum { TERMINAL_PASSES = 200, TEXT = 1536 };

static const khz_fmu_table *const table = &khz_fmu_described;

/* --------------------------------------------------------------------------------------------------------- messages */

static _Thread_local const khz_fmu *speaking = NULL;

void khz_fmu_say(const khz_fmu *f, khz_fmu_status status, const char *category, const char *text)
{
    if (f->log != NULL && (f->is_logging || status >= KHZ_FMU_ERROR)) {
        f->log(f, status, category, text);
    }
}

khz_fmu_status khz_fmu_refuse(const khz_fmu *f, const char *text)
{
    khz_fmu_say(f, KHZ_FMU_ERROR, "logStatusError", text);
    return KHZ_FMU_ERROR;
}

/* Messages and warnings of the model itself. */
static void hear(int level, int place, double time, const char *message)
{
    (void)place;
    (void)time;
    khz_fmu_say(speaking, level > 0 ? KHZ_FMU_WARNING : KHZ_FMU_OK, level > 0 ? "logStatusWarning" : "logAll", message);
}

void khz_fmu_listen(const khz_fmu *f)
{
    speaking = f;
    khz_set_listener(hear);
}

static const char *reason(khz_status status)
{
    switch (status) {
    case KHZ_SINGULAR:
        return "a linear system has no solution";
    case KHZ_NO_CONVERGENCE:
        return "a nonlinear loop does not converge";
    case KHZ_NOT_FINITE:
        return "a value is not a number";
    case KHZ_ASSERTION:
        return "an assertion failed";
    case KHZ_EVENT_CAP:
        return "an event iteration does not come to an end";
    case KHZ_OUT_OF_MEMORY:
        return "arrays of functions are too large";
    case KHZ_BAD_INDEX:
        return "a subscript is out of its bounds";
    case KHZ_DOMAIN:
        return "a function is called outside its domain";
    default:
        return "the model failed";
    }
}

khz_fmu_status khz_fmu_failed(const khz_fmu *f, khz_status status, khz_fmu_status as)
{
    const khz_context *const c = (const khz_context *)f->instance;
    const int32_t block = khz_failed_block(c);
    const int known = block > 0 && block <= f->model->n_blocks;
    const int worded = c->status != KHZ_OK && c->message[0] != '\0';
    char text[TEXT];
    (void)snprintf(text, sizeof text, "time = %g: %s%s%s%s%s", c->time, reason(status), worded ? ": " : "",
                   worded ? c->message : "", known ? ", " : "", known ? f->model->blocks[block - 1].origin : "");
    khz_fmu_say(f, as, as == KHZ_FMU_DISCARD ? "logStatusDiscard" : "logStatusError", text);
    return as;
}

/* ------------------------------------------------------------------------------------------------- making and freeing
 */

/* The settings with the number of the method, which only this program knows. */
static khz_step_settings settings_of(void)
{
    khz_step_settings s = table->settings;
    s.method = khz_method_index(table->method);
    return s;
}

static int prepare(khz_fmu *f)
{
    if (f->stepper == NULL) {
        const int made = khz_instance_init(f->model, f->instance) == KHZ_OK;
        ((khz_context *)f->instance)->ticks_outside = table->has_clocks;
        return made;
    }
    const khz_step_settings s = settings_of();
    const int done = khz_stepper_prepare(f->memory, f->model, &s) == KHZ_OK;
    f->step = khz_stepper_made(f->stepper, table->made);
    khz_stepper_see(f->stepper, 0); /* until a view is asked for */
    f->instance = khz_stepper_instance(f->stepper);
    ((khz_context *)f->instance)->ticks_outside = table->has_clocks && f->has_event_mode;
    return done;
}

static int take_memory(khz_fmu *f, int is_stepped)
{
    const khz_step_settings s = settings_of();
    const khz_model *const m = f->model;
    const size_t n_work = (size_t)(m->n_time_events + m->n_recorded + m->n_r + m->n_x) + 1U;
    f->size = is_stepped ? khz_stepper_size(m, &s) : khz_instance_size(m);
    f->allocated = f->size > 0 ? calloc(1, f->size + KHZ_ALIGNMENT) : NULL;
    f->at = (double *)calloc(n_work, sizeof(double));
    f->expanded = (uint32_t *)calloc(2U * (size_t)table->n_values + 1U, sizeof(uint32_t));
    if (f->allocated == NULL || f->at == NULL || f->expanded == NULL) {
        return 0;
    }
    const uintptr_t first = ((uintptr_t)f->allocated + KHZ_ALIGNMENT - 1U) / KHZ_ALIGNMENT * KHZ_ALIGNMENT;
    f->memory = (void *)first;
    f->stepper = is_stepped ? (khz_stepper *)f->memory : NULL;
    f->instance = f->memory;
    f->delayed = f->at + m->n_time_events;
    f->g = f->delayed + m->n_recorded;
    f->x = f->g + m->n_r;
    return prepare(f);
}

/* Names of files in the folder of resources, as parameters of the model. */
static int set_resources(const khz_fmu *f, const char *folder)
{
    for (int32_t i = 0; i < table->n_resources; i++) {
        const khz_fmu_resource *const r = &table->resources[i];
        char *const text = khz_texts(f->instance, r->offset);
        const int n = folder == NULL ? -1 : snprintf(text, KHZ_TEXT_SIZE, "%s/%s", folder, r->file);
        if (n < 0 || n >= KHZ_TEXT_SIZE) {
            return 0;
        }
    }
    return 1;
}

khz_fmu *khz_fmu_new(khz_fmu given, int is_stepped, const char *name, const char *token, const char *resources)
{
    khz_fmu *const f = (khz_fmu *)malloc(sizeof *f);
    if (f == NULL) {
        return NULL;
    }
    *f = given;
    f->model = table->model();
    f->name = (char *)malloc(strlen(name) + 1U);
    if (f->name != NULL) {
        memcpy(f->name, name, strlen(name) + 1U);
    }
    if (token == NULL || strcmp(token, table->token) != 0) {
        (void)khz_fmu_refuse(f, "the model description belongs to another FMU: its guid or token is not this binary's");
    } else if (f->name == NULL || !take_memory(f, is_stepped)) {
        (void)khz_fmu_refuse(f, "there is not memory enough for an instance");
    } else if (!set_resources(f, resources)) {
        (void)khz_fmu_refuse(f, "the folder of resources is not given, or its name is too long");
    } else {
        return f;
    }
    f->instance = NULL;
    khz_fmu_free(f);
    return NULL;
}

void khz_fmu_free(khz_fmu *f)
{
    if (f->instance != NULL) {
        khz_fmu_listen(f);
        f->model->destroy(f->instance);
    }
    khz_set_listener(NULL);
    free(f->at);
    free(f->expanded);
    free(f->allocated);
    free(f->name);
    free(f);
}

/* Everything new but what was set; in a mode of its own nothing else allocates. */
static khz_fmu_status anew(khz_fmu *f)
{
    char *const kept = (char *)malloc(f->size);
    if (kept == NULL) {
        return khz_fmu_refuse(f, "there is not memory enough to start again");
    }
    f->model->destroy(f->instance);
    memcpy(kept, f->memory, f->size);
    const char *const old = kept + ((const char *)f->instance - (const char *)f->memory);
    const int done = prepare(f);
    for (uint32_t i = 0; i < table->n_values && done; i++) {
        const khz_fmu_value *const v = &table->values[i];
        const size_t width = v->type == KHZ_FMU_TEXT ? KHZ_TEXT_SIZE : v->type == KHZ_FMU_REAL ? 8U : 4U;
        if (v->role != KHZ_FMU_COMPUTED) {
            memcpy((char *)f->instance + v->offset, old + v->offset, width);
        }
    }
    free(kept);
    return done ? KHZ_FMU_OK : khz_fmu_refuse(f, "the model cannot be prepared again");
}

khz_fmu_status khz_fmu_reset(khz_fmu *f)
{
    char (*const files)[KHZ_TEXT_SIZE] = calloc((size_t)table->n_resources + 1U, KHZ_TEXT_SIZE);
    if (files == NULL) {
        return khz_fmu_refuse(f, "there is not memory enough to start again");
    }
    for (int32_t i = 0; i < table->n_resources; i++) {
        memcpy(files[i], khz_texts(f->instance, table->resources[i].offset), KHZ_TEXT_SIZE);
    }
    f->model->destroy(f->instance);
    memset(&f->head, 0, sizeof f->head);
    const int done = prepare(f);
    for (int32_t i = 0; i < table->n_resources; i++) {
        memcpy(khz_texts(f->instance, table->resources[i].offset), files[i], KHZ_TEXT_SIZE);
    }
    free(files);
    return done ? KHZ_FMU_OK : khz_fmu_refuse(f, "the model cannot be prepared again");
}

/* ------------------------------------------------------------------------------------------------------------- start
 */

static khz_fmu_status initialize(khz_fmu *f)
{
    khz_status status = KHZ_OK;
    khz_fmu_listen(f);
    if (f->stepper != NULL) {
        status = khz_stepper_start(f->stepper, f->head.start);
        if (f->head.has_stop) {
            khz_stepper_stop_after(f->stepper, llround((f->head.stop - f->head.start) * 1e9));
        }
    } else {
        status = khz_initialize(f->model, f->instance, f->head.start);
        if (status == KHZ_OK && f->model->n_recorded > 0) {
            khz_delay_push(f->model, f->instance, f->delayed);
        }
    }
    f->head.is_computed = 1;
    f->head.needs_event = 0;
    return status == KHZ_OK ? KHZ_FMU_OK : khz_fmu_failed(f, status, KHZ_FMU_ERROR);
}

khz_fmu_status khz_fmu_begin(khz_fmu *f, double start, int has_stop, double stop)
{
    if (f->head.mode != KHZ_FMU_INSTANTIATED) {
        return khz_fmu_refuse(f, "Initialization Mode is entered once, after the instance was made or reset");
    }
    f->head.start = start;
    f->head.stop = stop;
    f->head.has_stop = has_stop;
    f->head.mode = KHZ_FMU_INITIALIZING;
    f->head.is_computed = 0;
    return KHZ_FMU_OK;
}

khz_fmu_status khz_fmu_started(khz_fmu *f)
{
    if (f->head.mode != KHZ_FMU_INITIALIZING) {
        return khz_fmu_refuse(f, "this instance is not in Initialization Mode");
    }
    const khz_fmu_status status = khz_fmu_refresh(f);
    f->head.mode = f->stepper != NULL && !f->has_event_mode ? KHZ_FMU_STEPPING : KHZ_FMU_EVENT_MODE;
    return status;
}

khz_fmu_status khz_fmu_terminate(khz_fmu *f)
{
    khz_context *const c = (khz_context *)f->instance;
    if (f->head.mode < KHZ_FMU_EVENT_MODE || f->head.mode > KHZ_FMU_STEPPING) {
        return khz_fmu_refuse(f, "this instance does not run, so that it cannot be terminated");
    }
    int passes = 0;
    khz_fmu_listen(f);
    c->phase = KHZ_PHASE_TERMINAL;
    const khz_status status = khz_event_passes(f->model, f->instance, TERMINAL_PASSES, &passes);
    c->phase = KHZ_PHASE_CONTINUOUS;
    f->head.mode = KHZ_FMU_ENDED;
    return status == KHZ_OK || status == KHZ_TERMINATED ? KHZ_FMU_OK : khz_fmu_failed(f, status, KHZ_FMU_ERROR);
}

/* ------------------------------------------------------------------------------------------------------------ values
 */

khz_fmu_status khz_fmu_renew(khz_fmu *f)
{
    const khz_model *const m = f->model;
    const khz_status status = m->once(f->instance);
    memset(khz_ints(f->instance, m->factored), 0, sizeof(int32_t) * (size_t)m->n_factored);
    if (f->stepper != NULL) {
        khz_stepper_touch(f->stepper);
    }
    f->head.needs_parameters = 0;
    return status == KHZ_OK ? KHZ_FMU_OK : khz_fmu_failed(f, status, KHZ_FMU_ERROR);
}

static khz_fmu_status evaluate(khz_fmu *f)
{
    const khz_context *const c = (const khz_context *)f->instance;
    if (!f->head.needs_rest) {
        return KHZ_FMU_OK;
    }
    khz_fmu_listen(f);
    const khz_status status = khz_evaluate_all(f->model, f->instance, c->time, khz_reals(f->instance, f->model->x));
    f->head.needs_rates = status != KHZ_OK;
    f->head.needs_rest = status != KHZ_OK;
    if (f->stepper != NULL) {
        f->stepper->is_shown = 1;
    }
    return status == KHZ_OK ? KHZ_FMU_OK : khz_fmu_failed(f, status, KHZ_FMU_DISCARD);
}

khz_fmu_status khz_fmu_refresh(khz_fmu *f)
{
    khz_fmu_status status = KHZ_FMU_OK;
    switch (f->head.mode) {
    case KHZ_FMU_INITIALIZING:
        if (f->head.is_computed && f->head.needs_event) {
            status = anew(f);
            f->head.is_computed = 0;
        }
        return status == KHZ_FMU_OK && !f->head.is_computed ? initialize(f) : status;
    case KHZ_FMU_EVENT_MODE:
    case KHZ_FMU_CONTINUOUS:
        status = f->head.needs_parameters ? khz_fmu_renew(f) : KHZ_FMU_OK;
        return status == KHZ_FMU_OK ? evaluate(f) : status;
    default: /* nothing is computed yet, or the last step left everything as it is at its end */
        return KHZ_FMU_OK;
    }
}

static const khz_fmu_value *value_of(const khz_fmu *f, uint32_t reference, int type)
{
    if (reference < table->n_values && table->values[reference].type == type) {
        return &table->values[reference];
    }
    char text[TEXT];
    (void)snprintf(text, sizeof text, "there is no value reference %lu of this type", (unsigned long)reference);
    (void)khz_fmu_refuse(f, text);
    return NULL;
}

/* What the last step left out because nobody had asked for it. */
static void look(const khz_fmu *f, const khz_fmu_value *v)
{
    if (v->place == KHZ_FMU_VIEW && f->stepper != NULL) {
        khz_stepper_look(f->stepper);
    }
}

/* Positive where the relation holds: it goes through zero where the relation changes. */
static double indicator(const khz_fmu *f, size_t i)
{
    return khz_ints(f->instance, f->model->r)[i] ? f->g[i] : -f->g[i];
}

khz_fmu_status khz_fmu_get_real(const khz_fmu *f, uint32_t reference, double *value)
{
    const khz_fmu_value *const v = value_of(f, reference, KHZ_FMU_REAL);
    if (v == NULL) {
        return KHZ_FMU_ERROR;
    }
    if (v->place == KHZ_FMU_INDICATOR) {
        f->model->crossings(f->instance, f->g);
        *value = indicator(f, v->offset);
    } else if (v->place == KHZ_FMU_CONSTANT) {
        *value = v->constant;
    } else {
        look(f, v);
        *value = v->sign * *khz_reals(f->instance, v->offset);
    }
    return KHZ_FMU_OK;
}

khz_fmu_status khz_fmu_get_whole(const khz_fmu *f, uint32_t reference, int type, int32_t *value)
{
    const khz_fmu_value *const v = value_of(f, reference, type);
    if (v == NULL) {
        return KHZ_FMU_ERROR;
    }
    const int32_t stored = v->place == KHZ_FMU_CONSTANT ? (int32_t)v->constant : *khz_ints(f->instance, v->offset);
    *value = type == KHZ_FMU_BOOLEAN ? (v->sign > 0) == (stored != 0) : v->sign * stored;
    return KHZ_FMU_OK;
}

khz_fmu_status khz_fmu_get_text(const khz_fmu *f, uint32_t reference, const char **value)
{
    const khz_fmu_value *const v = value_of(f, reference, KHZ_FMU_TEXT);
    if (v == NULL) {
        return KHZ_FMU_ERROR;
    }
    *value = khz_texts(f->instance, v->offset);
    return KHZ_FMU_OK;
}

/* May it be set now?  Notes that it was. */
static khz_fmu_status changing(khz_fmu *f, const khz_fmu_value *v)
{
    const int is_running = f->head.mode >= KHZ_FMU_EVENT_MODE;
    if (v == NULL) {
        return KHZ_FMU_ERROR;
    }
    if (v->role == KHZ_FMU_COMPUTED) {
        return khz_fmu_refuse(f, "a value that the model computes cannot be set");
    }
    if (v->role == KHZ_FMU_PARAMETER && is_running && table->n_objects > 0) {
        return khz_fmu_refuse(f, "external objects were made from the parameters: they are fixed after the start");
    }
    if (v->role == KHZ_FMU_PARAMETER && f->head.mode == KHZ_FMU_CONTINUOUS) {
        return khz_fmu_refuse(f, "a parameter is changed in Event Mode, not in Continuous-Time Mode");
    }
    if (v->role == KHZ_FMU_PARAMETER && f->head.mode == KHZ_FMU_INTERMEDIATE) {
        return khz_fmu_refuse(f, "a parameter is changed between communication steps, not inside one");
    }
    if (v->role == KHZ_FMU_PARAMETER && f->stepper != NULL) {
        khz_stepper_look(f->stepper); /* by the parameters of its step */
    }
    f->head.needs_rates = 1;
    f->head.needs_rest = 1;
    f->head.needs_event = 1;
    f->head.needs_parameters |= is_running && v->role == KHZ_FMU_PARAMETER;
    return KHZ_FMU_OK;
}

khz_fmu_status khz_fmu_set_real(khz_fmu *f, uint32_t reference, double value)
{
    const khz_fmu_value *const v = value_of(f, reference, KHZ_FMU_REAL);
    const khz_fmu_status status = changing(f, v);
    if (status == KHZ_FMU_OK) {
        *khz_reals(f->instance, v->offset) = v->sign * value;
    }
    return status;
}

khz_fmu_status khz_fmu_set_whole(khz_fmu *f, uint32_t reference, int type, int32_t value)
{
    const khz_fmu_value *const v = value_of(f, reference, type);
    const khz_fmu_status status = changing(f, v);
    if (status == KHZ_FMU_OK) {
        *khz_ints(f->instance, v->offset) = type == KHZ_FMU_BOOLEAN ? (v->sign > 0) == (value != 0) : v->sign * value;
    }
    return status;
}

khz_fmu_status khz_fmu_set_text(khz_fmu *f, uint32_t reference, const char *value)
{
    const khz_fmu_value *const v = value_of(f, reference, KHZ_FMU_TEXT);
    const khz_fmu_status status = changing(f, v);
    if (status != KHZ_FMU_OK) {
        return status;
    }
    if (strlen(value) >= KHZ_TEXT_SIZE) {
        return khz_fmu_refuse(f, "a text is longer than 1023 bytes");
    }
    memcpy(khz_texts(f->instance, v->offset), value, strlen(value) + 1U);
    return KHZ_FMU_OK;
}

int32_t *khz_fmu_clock(const khz_fmu *f, uint32_t reference)
{
    const khz_fmu_value *const v = value_of(f, reference, KHZ_FMU_CLOCK);
    return v != NULL ? khz_ints(f->instance, f->model->sample_now) + v->offset : NULL;
}

khz_fmu_status khz_fmu_clock_times(const khz_fmu *f, uint32_t reference, double *interval, double *shift)
{
    const khz_fmu_value *const v = value_of(f, reference, KHZ_FMU_CLOCK);
    if (v != NULL && interval != NULL) {
        *interval = khz_reals(f->instance, f->model->sample_interval)[v->offset];
    }
    if (v != NULL && shift != NULL) {
        *shift = khz_reals(f->instance, f->model->sample_start)[v->offset];
    }
    return v != NULL ? KHZ_FMU_OK : KHZ_FMU_ERROR;
}
