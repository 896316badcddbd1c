/* An FMU as an external object of Modelica: what a generated wrapper calls (fmi/wrapping).
 *
 * The library of the FMU is opened when the object is made; a function is looked up there, and may be missing as long
 * as nobody needs it.  Inputs and outputs are vectors of Reals in the order of a list ("Float64:3 Boolean:7*2": kind,
 * value reference, number of values), so that one call of the FMU moves all values of a kind.  Only making the object
 * takes memory.  Types are declared here: no header of the standard is needed. */
#ifndef KHZ_CALLED_FMU_H
#define KHZ_CALLED_FMU_H

#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ModelicaUtilities.h"
#include "khz_called_watch.h"

enum {
    KHZ_CALLED_TEXT = 512,
    KHZ_CALLED_NAME = 64,
    KHZ_CALLED_FUNCTION = 512,
    KHZ_CALLED_KINDS = 13,
    KHZ_CALLED_EVENTS = 100
};
enum { KHZ_CALLED_WARNING = 1, KHZ_CALLED_DISCARD = 2 };

#define KHZ_CALLED_NEVER 1e300 /* seconds: a number, and behind every run */

/* How values of a kind lie in memory. */
typedef enum khz_called_type {
    KHZ_CALLED_F64,
    KHZ_CALLED_F32,
    KHZ_CALLED_I8,
    KHZ_CALLED_U8,
    KHZ_CALLED_I16,
    KHZ_CALLED_U16,
    KHZ_CALLED_I32,
    KHZ_CALLED_U32,
    KHZ_CALLED_I64,
    KHZ_CALLED_U64,
    KHZ_CALLED_BOOL
} khz_called_type;

typedef struct khz_called_kind {
    const char *name; /* in lists */
    const char *call; /* behind Get and Set */
    khz_called_type type;
} khz_called_kind;

static const khz_called_kind khz_called_kinds_1[] = {
    {"Real", "Real", KHZ_CALLED_F64},      {"Integer", "Integer", KHZ_CALLED_I32},
    {"Boolean", "Boolean", KHZ_CALLED_I8}, {"Enumeration", "Integer", KHZ_CALLED_I32},
    {NULL, NULL, KHZ_CALLED_F64},
};
static const khz_called_kind khz_called_kinds_2[] = {
    {"Real", "Real", KHZ_CALLED_F64},       {"Integer", "Integer", KHZ_CALLED_I32},
    {"Boolean", "Boolean", KHZ_CALLED_I32}, {"Enumeration", "Integer", KHZ_CALLED_I32},
    {NULL, NULL, KHZ_CALLED_F64},
};
static const khz_called_kind khz_called_kinds_3[] = {
    {"Float64", "Float64", KHZ_CALLED_F64},
    {"Float32", "Float32", KHZ_CALLED_F32},
    {"Int8", "Int8", KHZ_CALLED_I8},
    {"UInt8", "UInt8", KHZ_CALLED_U8},
    {"Int16", "Int16", KHZ_CALLED_I16},
    {"UInt16", "UInt16", KHZ_CALLED_U16},
    {"Int32", "Int32", KHZ_CALLED_I32},
    {"UInt32", "UInt32", KHZ_CALLED_U32},
    {"Int64", "Int64", KHZ_CALLED_I64},
    {"UInt64", "UInt64", KHZ_CALLED_U64},
    {"Boolean", "Boolean", KHZ_CALLED_BOOL},
    {"Enumeration", "Int64", KHZ_CALLED_I64},
    {NULL, NULL, KHZ_CALLED_F64},
};

/* All values of a list that are of one kind. */
typedef struct khz_called_group {
    const khz_called_kind *kind;
    uint32_t *references;
    int32_t *places; /* of its values in the vector */
    void *values;
    size_t n_references;
    size_t n_values;
    void *get;
    void *set;
} khz_called_group;

typedef struct khz_called_list {
    khz_called_group groups[KHZ_CALLED_KINDS];
    int32_t n_groups;
    int32_t n_values;
} khz_called_list;

#include "khz_called_jacobian.h"

typedef struct khz_called_callbacks {
    void (*logger)(void *, const char *, int, const char *, const char *, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void *finished;
    void *environment;
} khz_called_callbacks;

typedef struct khz_called_event_2 {
    int again;
    int terminate;
    int nominals;
    int states;
    int has_next;
    double next;
} khz_called_event_2;

typedef struct khz_called_fmu {
    void *library;
    void *instance;
    int32_t version;
    int32_t is_exchange;
    int32_t has_begun;
    int32_t has_ended;  /* the FMU wants to end the run */
    int32_t has_failed; /* a call went wrong: the standard forbids the next one */
    double reached;     /* time of the last communication point, or of the last call of Model Exchange */
    khz_called_callbacks callbacks;
    khz_called_list inputs;
    khz_called_list outputs;
    int32_t n_states;
    int32_t n_indicators;
    double *states; /* as the FMU has them */
    double *given;  /* inputs as the FMU has them */
    double *before; /* states before the last event, ... */
    double *after;  /* ... and behind it */
    double event_time;
    int32_t epoch; /* the stretch between two events that goes on, counted from 1 */
    double next;   /* time event, or KHZ_CALLED_NEVER */
    void *set_time, *set_states, *get_states, *rates, *indicators, *do_step;
    khz_called_jacobian jacobian;
    double *moved; /* inputs, states and derivatives beside those of a point */
    char name[KHZ_CALLED_NAME];
    char prefix[KHZ_CALLED_FUNCTION / 2]; /* of the names of its functions */
    char said[KHZ_CALLED_TEXT];           /* its last message */
    uint64_t counts[KHZ_WATCHES];         /* of calls in its steps */
} khz_called_fmu;

/* --------------------------------------------------------------------------------------------------------- messages */

static void khz_called_log_2(void *environment, const char *instance, int status, const char *category,
                             const char *text, ...)
{
    khz_called_fmu *const f = (khz_called_fmu *)environment;
    (void)instance, (void)status, (void)category;
    if (f != NULL && text != NULL) {
        va_list arguments;
        va_start(arguments, text);
        (void)vsnprintf(f->said, sizeof f->said, text, arguments);
        va_end(arguments);
    }
}

/* FMI 1 says the instance where later versions say who made it: the FMU that this thread called last. */
static _Thread_local khz_called_fmu *khz_called_last;

static void khz_called_log_1(void *instance, const char *name, int status, const char *category, const char *text, ...)
{
    khz_called_fmu *const f = khz_called_last;
    (void)instance, (void)name, (void)status, (void)category;
    if (f != NULL && text != NULL) {
        va_list arguments;
        va_start(arguments, text);
        (void)vsnprintf(f->said, sizeof f->said, text, arguments);
        va_end(arguments);
    }
}

static void khz_called_log_3(void *environment, int status, const char *category, const char *text)
{
    khz_called_fmu *const f = (khz_called_fmu *)environment;
    (void)status, (void)category;
    if (f != NULL && text != NULL) {
        (void)snprintf(f->said, sizeof f->said, "%s", text);
    }
}

static void khz_called_fail(khz_called_fmu *f, const char *function, const char *what)
{
    const char *const colon = f->said[0] != '\0' ? ": " : "";
    f->has_failed = 1;
    ModelicaFormatError("%s%s of the FMU `%s` %s%s%s", f->prefix, function, f->name, what, colon, f->said);
}

static void khz_called_demand(khz_called_fmu *f, const char *function, int status)
{
    static const char *const words[] = {"", "", "gives `discard`", "gives `error`", "gives `fatal`", "gives `pending`"};
    if (status > KHZ_CALLED_WARNING || status < 0) {
        khz_called_fail(f, function, status >= 0 && status < 6 ? words[status] : "gives an unknown status");
    }
}

/* A function of the FMU, or NULL. */
static void *khz_called_find(const khz_called_fmu *f, const char *name)
{
    char full[KHZ_CALLED_FUNCTION];
    (void)snprintf(full, sizeof full, "%s%s", f->prefix, name);
    return dlsym(f->library, full);
}

static void *khz_called_need(khz_called_fmu *f, const char *name)
{
    void *const found = khz_called_find(f, name);
    if (found == NULL) {
        khz_called_fail(f, name, "is missing");
    }
    return found;
}

/* A function that takes the instance alone. */
static void khz_called_plain(khz_called_fmu *f, const char *name)
{
    int (*const call)(void *) = (int (*)(void *))khz_called_need(f, name);
    khz_called_demand(f, name, call(f->instance));
}

/* ----------------------------------------------------------------------------------------------------------- values */

static const khz_called_kind *khz_called_kind_of(const khz_called_fmu *f, const char *name, size_t n)
{
    const khz_called_kind *k = f->version == 1   ? khz_called_kinds_1
                               : f->version == 2 ? khz_called_kinds_2
                                                 : khz_called_kinds_3;
    while (k->name != NULL && (strlen(k->name) != n || strncmp(k->name, name, n) != 0)) {
        k++;
    }
    return k->name != NULL ? k : NULL;
}

static khz_called_group *khz_called_group_of(const khz_called_fmu *f, khz_called_list *list, const khz_called_kind *k,
                                             size_t most)
{
    for (int32_t i = 0; i < list->n_groups; i++) {
        if (list->groups[i].kind == k) {
            return &list->groups[i];
        }
    }
    khz_called_group *const g = &list->groups[list->n_groups++];
    char name[KHZ_CALLED_NAME];
    g->kind = k;
    g->references = (uint32_t *)calloc(most, sizeof *g->references);
    g->places = (int32_t *)calloc(most, sizeof *g->places);
    g->values = calloc(most, sizeof(double));
    (void)snprintf(name, sizeof name, "Get%s", k->call);
    g->get = khz_called_find(f, name);
    (void)snprintf(name, sizeof name, "Set%s", k->call);
    g->set = khz_called_find(f, name);
    return g;
}

/* Read a list; `most` is at least the number of its values. */
static void khz_called_read(khz_called_fmu *f, khz_called_list *list, const char *text, size_t most)
{
    while (*text != '\0') {
        const size_t length = strcspn(text, ":");
        const khz_called_kind *const kind = khz_called_kind_of(f, text, length);
        char *rest = NULL;
        if (kind == NULL || text[length] != ':') {
            ModelicaFormatError("the wrapper of the FMU `%s` names an unknown kind: %.40s", f->name, text);
        }
        const uint32_t reference = (uint32_t)strtoul(text + length + 1, &rest, 10);
        const long n = *rest == '*' ? strtol(rest + 1, &rest, 10) : 1;
        khz_called_group *const g = khz_called_group_of(f, list, kind, most);
        if (g->references == NULL || g->places == NULL || g->values == NULL) {
            ModelicaFormatError("there is no memory for the FMU `%s`", f->name);
        }
        g->references[g->n_references++] = reference;
        for (long i = 0; i < n && g->n_values < most; i++) {
            g->places[g->n_values++] = list->n_values++;
        }
        text = rest + strspn(rest, " ");
    }
}

static double khz_called_value(const khz_called_group *g, size_t i)
{
    switch (g->kind->type) {
    case KHZ_CALLED_F64:
        return ((const double *)g->values)[i];
    case KHZ_CALLED_F32:
        return (double)((const float *)g->values)[i];
    case KHZ_CALLED_I8:
        return ((const int8_t *)g->values)[i];
    case KHZ_CALLED_U8:
        return ((const uint8_t *)g->values)[i];
    case KHZ_CALLED_I16:
        return ((const int16_t *)g->values)[i];
    case KHZ_CALLED_U16:
        return ((const uint16_t *)g->values)[i];
    case KHZ_CALLED_I32:
        return ((const int32_t *)g->values)[i];
    case KHZ_CALLED_U32:
        return ((const uint32_t *)g->values)[i];
    case KHZ_CALLED_I64:
        return (double)((const int64_t *)g->values)[i];
    case KHZ_CALLED_U64:
        return (double)((const uint64_t *)g->values)[i];
    default:
        return ((const bool *)g->values)[i] ? 1.0 : 0.0;
    }
}

/* Whole numbers that a type holds, low and high; the wide ones as far as a double is sure of. */
static const double khz_called_limits[][2] = {
    {0.0, 0.0},
    {0.0, 0.0},
    {-128.0, 127.0},
    {0.0, 255.0},
    {-32768.0, 32767.0},
    {0.0, 65535.0},
    {-2147483648.0, 2147483647.0},
    {0.0, 4294967295.0},
    {-9007199254740992.0, 9007199254740992.0},
    {0.0, 9007199254740992.0},
    {0.0, 1.0},
};

static void khz_called_put(khz_called_fmu *f, const khz_called_group *g, size_t i, double v)
{
    const double *const limits = khz_called_limits[g->kind->type];
    if (limits[0] < limits[1] && !(v >= limits[0] && v <= limits[1])) {
        ModelicaFormatError("%g does not fit into a variable of the FMU `%s` that is %s", v, f->name, g->kind->name);
    }
    switch (g->kind->type) {
    case KHZ_CALLED_F64:
        ((double *)g->values)[i] = v;
        break;
    case KHZ_CALLED_F32:
        ((float *)g->values)[i] = (float)v;
        break;
    case KHZ_CALLED_I8:
        ((int8_t *)g->values)[i] = (int8_t)v;
        break;
    case KHZ_CALLED_U8:
        ((uint8_t *)g->values)[i] = (uint8_t)v;
        break;
    case KHZ_CALLED_I16:
        ((int16_t *)g->values)[i] = (int16_t)v;
        break;
    case KHZ_CALLED_U16:
        ((uint16_t *)g->values)[i] = (uint16_t)v;
        break;
    case KHZ_CALLED_I32:
        ((int32_t *)g->values)[i] = (int32_t)v;
        break;
    case KHZ_CALLED_U32:
        ((uint32_t *)g->values)[i] = (uint32_t)v;
        break;
    case KHZ_CALLED_I64:
        ((int64_t *)g->values)[i] = (int64_t)v;
        break;
    case KHZ_CALLED_U64:
        ((uint64_t *)g->values)[i] = (uint64_t)v;
        break;
    default:
        ((bool *)g->values)[i] = v != 0.0;
    }
}

typedef int (*khz_called_move_2)(void *, const uint32_t *, size_t, void *);
typedef int (*khz_called_move_3)(void *, const uint32_t *, size_t, void *, size_t);

static void khz_called_move(khz_called_fmu *f, const khz_called_group *g, void *call, const char *verb)
{
    char name[KHZ_CALLED_NAME];
    int status = 0;
    if (call == NULL) {
        (void)snprintf(name, sizeof name, "%s%s", verb, g->kind->call);
        khz_called_fail(f, name, "is missing");
    } else if (f->version < 3) {
        status = ((khz_called_move_2)call)(f->instance, g->references, g->n_references, g->values);
    } else {
        status = ((khz_called_move_3)call)(f->instance, g->references, g->n_references, g->values, g->n_values);
    }
    if (status != 0) {
        (void)snprintf(name, sizeof name, "%s%s", verb, g->kind->call);
        khz_called_demand(f, name, status);
    }
}

static void khz_called_get(khz_called_fmu *f, const khz_called_list *list, double *out)
{
    for (int32_t i = 0; i < list->n_groups; i++) {
        const khz_called_group *const g = &list->groups[i];
        khz_called_move(f, g, g->get, "Get");
        for (size_t j = 0; j < g->n_values; j++) {
            out[g->places[j]] = khz_called_value(g, j);
        }
    }
}

static void khz_called_set(khz_called_fmu *f, const khz_called_list *list, const double *values)
{
    for (int32_t i = 0; i < list->n_groups; i++) {
        const khz_called_group *const g = &list->groups[i];
        for (size_t j = 0; j < g->n_values; j++) {
            khz_called_put(f, g, j, values[g->places[j]]);
        }
        khz_called_move(f, g, g->set, "Set");
    }
}

static void khz_called_give(khz_called_fmu *f, const double *inputs)
{
    const size_t n = (size_t)f->inputs.n_values;
    khz_called_set(f, &f->inputs, inputs);
    if (n > 0) {
        memcpy(f->given, inputs, n * sizeof *inputs);
    }
}

#include "khz_called_exchange.h"

#endif
