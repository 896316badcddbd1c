/* The life of an FMU that is called from Modelica: made, begun, stepped, freed.  Part of khz_called_fmu.h. */
#ifndef KHZ_CALLED_LIFE_H
#define KHZ_CALLED_LIFE_H

/* ------------------------------------------------------------------------------------------------------------- made */

static void *khz_called_instance_1(khz_called_fmu *f, const char *token, const char *folder)
{
    typedef struct callbacks { /* it has no environment, and goes by value */
        void (*logger)(void *, const char *, int, const char *, const char *, ...);
        void *(*allocate)(size_t, size_t);
        void (*release)(void *);
        void *finished;
    } callbacks;
    typedef void *(*make)(const char *, const char *, const char *, const char *, double, int8_t, int8_t, callbacks,
                          int8_t);
    const callbacks with = {khz_called_log_1, khz_called_allocate, free, NULL};
    khz_called_last = f;
    return ((make)khz_called_need(f, "InstantiateSlave"))(f->name, token, folder, "application/x-fmu-sharedlibrary",
                                                          0.0, 0, 0, with, 0);
}

static void *khz_called_instance_2(khz_called_fmu *f, const char *token, const char *resources)
{
    typedef void *(*make)(const char *, int, const char *, const char *, const void *, int, int);
    f->callbacks.logger = khz_called_log_2;
    f->callbacks.allocate = khz_called_allocate;
    f->callbacks.release = free;
    f->callbacks.environment = f;
    return ((make)khz_called_need(f, "Instantiate"))(f->name, f->is_exchange ? 0 : 1, token, resources, &f->callbacks,
                                                     0, 0);
}

static void *khz_called_instance_3(khz_called_fmu *f, const char *token, const char *resources)
{
    typedef void (*log)(void *, int, const char *, const char *);
    typedef void *(*make)(const char *, const char *, const char *, bool, bool, void *, log);
    typedef void *(*make_steps)(const char *, const char *, const char *, bool, bool, bool, bool, const uint32_t *,
                                size_t, void *, log, void *);
    if (f->is_exchange) {
        return ((make)khz_called_need(f, "InstantiateModelExchange"))(f->name, token, resources, false, false, f,
                                                                      khz_called_log_3);
    }
    return ((make_steps)khz_called_need(f, "InstantiateCoSimulation"))(f->name, token, resources, false, false, false,
                                                                       false, NULL, 0, f, khz_called_log_3, NULL);
}

/* Set those parameters whose values are not the FMU's own; an array as a whole. */
static void khz_called_parameters(khz_called_fmu *f, const char *text, const double *values, const double *starts)
{
    while (*text != '\0') {
        const size_t length = strcspn(text, " ");
        char entry[KHZ_CALLED_NAME];
        (void)snprintf(entry, sizeof entry, "%.*s", (int)length, text);
        text += length + strspn(text + length, " ");
        const char *const star = strchr(entry, '*');
        khz_called_list list;
        memset(&list, 0, sizeof list);
        khz_called_read(f, &list, entry, star != NULL ? strtoul(star + 1, NULL, 10) : 1U);
        khz_called_group *const g = &list.groups[0];
        if (memcmp(values, starts, g->n_values * sizeof *values) != 0) {
            for (size_t j = 0; j < g->n_values; j++) {
                khz_called_put(f, g, j, values[j]);
            }
            khz_called_move(f, g, g->set, "Set");
        }
        values += g->n_values;
        starts += g->n_values;
        free(g->references);
        free(g->places);
        free(g->values);
    }
}

static void khz_called_texts(khz_called_fmu *f, const char *references, const char **texts, const char **starts,
                             size_t n)
{
    char *rest = NULL;
    for (size_t i = 0; i < n; i++, references = rest) {
        const uint32_t reference = (uint32_t)strtoul(references, &rest, 10);
        const char *text = texts[i];
        if (strcmp(text, starts[i]) == 0) {
            continue;
        }
        void *const call = khz_called_need(f, "SetString");
        const int status =
            f->version < 3
                ? ((int (*)(void *, const uint32_t *, size_t, const char **))call)(f->instance, &reference, 1, &text)
                : ((int (*)(void *, const uint32_t *, size_t, const char **, size_t))call)(f->instance, &reference, 1,
                                                                                           &text, 1);
        khz_called_demand(f, "SetString", status);
    }
}

static void khz_called_open(khz_called_fmu *f, const char *library)
{
    f->library = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    if (f->library == NULL) {
        const char *const why = dlerror();
        ModelicaFormatError("the binary of the FMU `%s` cannot be loaded: %s", f->name, why != NULL ? why : library);
    }
    khz_called_watch(f->library);
}

static double *khz_called_room(const khz_called_fmu *f, int32_t n)
{
    double *const room = (double *)calloc((size_t)n + 1, sizeof *room);
    if (room == NULL) {
        ModelicaFormatError("there is no memory for the FMU `%s`", f->name);
    }
    return room;
}

/* What is known of the Jacobian (khz_called_jacobian.h); "": nothing. */
static void khz_called_directions(khz_called_fmu *f, const char *text)
{
    char *parts[4] = {NULL, NULL, NULL, NULL};
    if (text[0] == '\0') {
        return;
    }
    int fails = 0;
    for (int32_t i = 0; i < 4; i++) {
        text = khz_called_part(text, &parts[i]);
        fails |= parts[i] == NULL;
    }
    f->moved = khz_called_room(f, f->inputs.n_values + 2 * f->n_states);
    if (fails || !khz_called_jacobian_make(&f->jacobian, parts, f->n_states, f->inputs.n_values)) {
        ModelicaFormatError("there is no memory for the FMU `%s`", f->name);
    }
    khz_called_read(f, &f->jacobian.states, parts[0], (size_t)f->n_states);
    khz_called_read(f, &f->jacobian.rates, parts[1], (size_t)f->n_states);
    const int is_offered = f->jacobian.states.n_values > 0;
    f->jacobian.directional = is_offered ? khz_called_find(f, "GetDirectionalDerivative") : NULL;
    for (int32_t i = 0; i < 4; i++) {
        free(parts[i]);
    }
}

/* The external object: an instance with its parameters set.  `how` is {version, 1 for Model Exchange, number of inputs,
 * of outputs, of states, of event indicators}. */
static void *khz_called_make(const char *name, const char *library, const char *resources, const char *token,
                             const char *prefix, const int *how, const char *inputs, const char *outputs,
                             const char *derivatives, const char *parameters, const double *values,
                             const double *starts, size_t n_parameters, const char *references, const char **texts,
                             const char **text_starts, size_t n_texts)
{
    khz_called_fmu *const f = (khz_called_fmu *)calloc(1, sizeof *f);
    if (f == NULL) {
        ModelicaFormatError("there is no memory for the FMU `%s`", name);
    }
    (void)snprintf(f->name, sizeof f->name, "%s", name);
    (void)snprintf(f->prefix, sizeof f->prefix, "%s", prefix);
    f->version = how[0];
    f->is_exchange = how[1];
    f->n_states = how[4];
    f->n_indicators = how[5];
    f->next = KHZ_CALLED_NEVER;
    khz_called_open(f, library);
    khz_called_read(f, &f->inputs, inputs, (size_t)how[2]);
    khz_called_read(f, &f->outputs, outputs, (size_t)how[3]);
    f->given = khz_called_room(f, f->inputs.n_values);
    f->states = khz_called_room(f, f->n_states);
    f->before = khz_called_room(f, f->n_states);
    f->after = khz_called_room(f, f->n_states);
    f->instance = f->version == 1   ? khz_called_instance_1(f, token, resources)
                  : f->version == 2 ? khz_called_instance_2(f, token, resources)
                                    : khz_called_instance_3(f, token, resources);
    if (f->instance == NULL) {
        khz_called_fail(f, "Instantiate", "makes no instance");
    }
    (void)n_parameters; /* as many as the list says */
    khz_called_parameters(f, parameters, values, starts);
    khz_called_texts(f, references, texts, text_starts, n_texts);
    if (f->is_exchange) {
        f->set_time = khz_called_need(f, "SetTime");
        f->set_states = khz_called_find(f, "SetContinuousStates");
        f->get_states = khz_called_find(f, "GetContinuousStates");
        f->rates = khz_called_find(f, f->version == 2 ? "GetDerivatives" : "GetContinuousStateDerivatives");
        f->indicators = khz_called_find(f, "GetEventIndicators");
        khz_called_directions(f, derivatives);
    } else {
        f->do_step = khz_called_need(f, "DoStep");
    }
    return f;
}

static void khz_called_free(void *object)
{
    khz_called_fmu *const f = (khz_called_fmu *)object;
    if (f == NULL) {
        return;
    }
    khz_called_inside = NULL;
    khz_called_tell(f->name, f->counts);
    const int is_1 = f->version == 1;
    void (*const release)(void *) = (void (*)(void *))khz_called_find(f, is_1 ? "FreeSlaveInstance" : "FreeInstance");
    int (*const terminate)(void *) = (int (*)(void *))khz_called_find(f, is_1 ? "TerminateSlave" : "Terminate");
    if (terminate != NULL && f->has_begun && !f->has_failed) {
        (void)terminate(f->instance);
    }
    if (release != NULL) {
        release(f->instance);
    }
    khz_called_list *const lists[] = {&f->inputs, &f->outputs, &f->jacobian.states, &f->jacobian.rates};
    for (int32_t i = 0; i < 4; i++) {
        for (int32_t j = 0; j < lists[i]->n_groups; j++) {
            free(lists[i]->groups[j].references);
            free(lists[i]->groups[j].places);
            free(lists[i]->groups[j].values);
        }
    }
    khz_called_jacobian_free(&f->jacobian);
    free(f->moved);
    free(f->given);
    free(f->states);
    free(f->before);
    free(f->after);
    free(f); /* the library stays open: what it left behind (threads, handlers) may still need its code */
}

/* ------------------------------------------------------------------------------------------------------------ begun */

/* Initial equations with these inputs; afterwards the FMU is in Step Mode or Event Mode. */
static void khz_called_initialise(khz_called_fmu *f, double time, const double *inputs)
{
    if (f->version == 1) {
        typedef int (*begin)(void *, double, int8_t, double);
        const begin call = (begin)khz_called_need(f, "InitializeSlave");
        khz_called_give(f, inputs);
        khz_called_demand(f, "InitializeSlave", call(f->instance, time, 0, 0.0));
        f->reached = time;
        f->has_begun = 1;
        return;
    }
    if (f->version == 2) {
        typedef int (*setup)(void *, int, double, double, int, double);
        const setup call = (setup)khz_called_need(f, "SetupExperiment");
        khz_called_demand(f, "SetupExperiment", call(f->instance, 0, 0.0, time, 0, 0.0));
        khz_called_plain(f, "EnterInitializationMode");
    } else {
        typedef int (*enter)(void *, bool, double, double, bool, double);
        const enter call = (enter)khz_called_need(f, "EnterInitializationMode");
        khz_called_demand(f, "EnterInitializationMode", call(f->instance, false, 0.0, time, false, 0.0));
    }
    khz_called_give(f, inputs);
    khz_called_plain(f, "ExitInitializationMode");
    f->reached = time;
    f->has_begun = 1;
}

/* ----------------------------------------------------------------------------------------------------- Co-Simulation
 */

static void khz_called_advance(khz_called_fmu *f, double until)
{
    int status = 0;
    if (f->version == 1) {
        typedef int (*step)(void *, double, double, int8_t);
        status = ((step)f->do_step)(f->instance, f->reached, until - f->reached, 1);
    } else if (f->version == 2) {
        typedef int (*step)(void *, double, double, int);
        status = ((step)f->do_step)(f->instance, f->reached, until - f->reached, 1);
        typedef int (*ask)(void *, int, int *);
        const ask has_ended = status == KHZ_CALLED_DISCARD ? (ask)khz_called_find(f, "GetBooleanStatus") : NULL;
        int is_over = 0;
        if (has_ended != NULL && has_ended(f->instance, 3, &is_over) == 0 && is_over) {
            f->has_ended = 1;
            status = 0;
        }
    } else {
        typedef int (*step)(void *, double, double, bool, bool *, bool *, bool *, double *);
        bool event = false;
        bool over = false;
        bool early = false;
        double reached = until;
        status = ((step)f->do_step)(f->instance, f->reached, until - f->reached, true, &event, &over, &early, &reached);
        f->has_ended = over;
    }
    khz_called_demand(f, "DoStep", status);
    f->reached = until;
}

/* Before calls in a step: not where one went wrong; what it calls is counted. */
static void khz_called_heed(khz_called_fmu *f)
{
    khz_called_inside = f->has_begun ? f->counts : NULL;
    khz_called_last = f;
    if (f->has_failed) {
        ModelicaFormatError("the FMU `%s` is not called any more: a call of it went wrong before", f->name);
    }
}

/* Go on to a time with inputs held, and say the outputs there; the last value is 1 where the FMU wants to end.
 * The first call begins.  A time that is reached already moves nothing. */
static void khz_called_step(void *object, double time, const double *inputs, double *out)
{
    khz_called_fmu *const f = (khz_called_fmu *)object;
    khz_called_heed(f);
    if (!f->has_begun) {
        khz_called_initialise(f, time, inputs);
    } else if (time > f->reached && !f->has_ended) {
        khz_called_give(f, inputs);
        khz_called_advance(f, time);
    }
    khz_called_get(f, &f->outputs, out);
    out[f->outputs.n_values] = f->has_ended ? 1.0 : 0.0;
}

#endif
