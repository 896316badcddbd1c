/* A model as the instance of an FMU: what the FMI functions of every version share.
 *
 * One khz_fmu is one instance: all that changes is in it and in the memory it owns, so a process may have as many as it
 * likes.  Co-Simulation makes steps with the bounded stepper (khz_stepper.h), as off-line runs and periodic tasks do;
 * Model Exchange evaluates the same model for somebody else's solver.  Memory is taken by khz_fmu_new, khz_fmu_begin
 * and for states; a step takes none. */
#ifndef KHZ_FMU_H
#define KHZ_FMU_H

#include "khz_stepper.h"

#if defined(_WIN32)
#define KHZ_FMI_API __declspec(dllexport)
#else
#define KHZ_FMI_API KHZ_EXPORT
#endif

/* What a call came to: the numbers are those of FMI 2 and 3. */
typedef enum khz_fmu_status {
    KHZ_FMU_OK = 0,
    KHZ_FMU_WARNING = 1,
    KHZ_FMU_DISCARD = 2,
    KHZ_FMU_ERROR = 3,
    KHZ_FMU_FATAL = 4
} khz_fmu_status;

enum { KHZ_FMU_REAL = 0, KHZ_FMU_INTEGER = 1, KHZ_FMU_BOOLEAN = 2, KHZ_FMU_TEXT = 3, KHZ_FMU_CLOCK = 4 };

/* Who may set a value: nobody, the importer before the start and (where nothing was made from it) later, always. */
enum { KHZ_FMU_COMPUTED = 0, KHZ_FMU_PARAMETER = 1, KHZ_FMU_INPUT = 2 };

/* Where it is kept: in the instance, in the table itself, or it is an event indicator or a clock. */
enum { KHZ_FMU_STORED = 0, KHZ_FMU_CONSTANT = 1, KHZ_FMU_INDICATOR = 2, KHZ_FMU_VIEW = 3 /* stored when asked for */ };

/* The value of a value reference, which is its position in the table. */
typedef struct khz_fmu_value {
    size_t offset; /* in the instance; of an indicator or a clock: which one */
    double constant;
    int8_t type, role, place;
    int8_t sign; /* -1: the negative of what is stored (a Boolean: its opposite) */
} khz_fmu_value;

/* Values that one value reference stands for (FMI 3): those behind the single ones, in the order of the table. */
typedef struct khz_fmu_array {
    uint32_t first; /* in `members` */
    uint32_t n;
} khz_fmu_array;

/* A parameter whose text is the name of a file in the FMU's folder of resources. */
typedef struct khz_fmu_resource {
    size_t offset;
    const char *file;
} khz_fmu_resource;

/* What the exporter knows about a model; generated. */
typedef struct khz_fmu_table {
    const khz_model *(*model)(void);
    const char *token; /* guid, instantiation token */
    const char *method;
    khz_step_settings settings;
    const khz_made *made; /* a step for the model and these settings, or why there is none; NULL: linked without */
    const khz_fmu_value *values;
    const khz_fmu_array *arrays;
    const uint32_t *members; /* of arrays: references of single values */
    const khz_fmu_resource *resources;
    uint32_t n_values;
    uint32_t n_arrays;
    int32_t n_resources;
    int32_t has_clocks; /* samples tick when the importer says so */
    int32_t n_objects;  /* external objects: pointers that no copy of an instance may take along */
    size_t objects;
} khz_fmu_table;

extern const khz_fmu_table khz_fmu_described;

/* Modes of an instance. */
enum {
    KHZ_FMU_INSTANTIATED = 0,
    KHZ_FMU_INITIALIZING = 1,
    KHZ_FMU_EVENT_MODE = 2, /* in Co-Simulation where the importer wants it */
    KHZ_FMU_CONTINUOUS = 3,
    KHZ_FMU_STEPPING = 4,
    KHZ_FMU_INTERMEDIATE = 5, /* the importer is called inside a step */
    KHZ_FMU_ENDED = 6
};

/* What belongs to the state of an instance besides its memory. */
typedef struct khz_fmu_head {
    double start, stop;
    int32_t has_stop;
    int32_t mode;
    int32_t is_computed;      /* the initial equations are solved for what was set */
    int32_t needs_rates;      /* Model Exchange: derivatives belong to another point */
    int32_t needs_rest;       /* and so does all that follows from them */
    int32_t needs_event;      /* something was set that events see */
    int32_t needs_parameters; /* a parameter was changed after the start */
} khz_fmu_head;

typedef struct khz_fmu khz_fmu;
typedef void (*khz_fmu_log_fn)(const khz_fmu *f, khz_fmu_status status, const char *category, const char *text);
/* Inside a communication step, between two steps of the method: until when shall it go on?  HUGE_VAL: to its end. */
typedef double (*khz_fmu_update_fn)(khz_fmu *f, double time);

struct khz_fmu {
    khz_fmu_head head;
    const khz_model *model;
    void *allocated; /* memory begins in it */
    void *memory;    /* stepper and instance (Co-Simulation), or instance alone: `size` bytes */
    size_t size;
    khz_stepper *stepper; /* NULL: Model Exchange */
    uint32_t (*step)(khz_stepper *s);
    void *instance;
    double *at, *delayed, *g, *x; /* [n_time_events], [n_recorded], [n_r], [n_x] */
    char *name;
    khz_fmu_log_fn log;
    khz_fmu_update_fn update;                /* NULL: the importer does not want to hear of it */
    void *environment, *callback, *updating; /* the importer's */
    int is_logging, has_terminated, may_return_early;
    int has_event_mode; /* Co-Simulation: the importer handles events between steps, and makes clocks tick */
    uint32_t *expanded; /* [2 n_values]: arrays of a call by their values */
};

/* NULL with a message where the token is another FMU's or memory is not to be had.  `resources` is a path or NULL. */
khz_fmu *khz_fmu_new(khz_fmu f, int is_stepped, const char *name, const char *token, const char *resources);
void khz_fmu_free(khz_fmu *f);
khz_fmu_status khz_fmu_reset(khz_fmu *f);
void khz_fmu_say(const khz_fmu *f, khz_fmu_status status, const char *category, const char *text);
khz_fmu_status khz_fmu_refuse(const khz_fmu *f, const char *text);
/* Say what failed, when, and where it stands in the model. */
khz_fmu_status khz_fmu_failed(const khz_fmu *f, khz_status status, khz_fmu_status as);
/* Messages of the model go to this instance's importer from now on (in this thread). */
void khz_fmu_listen(const khz_fmu *f);

/* Into and out of Initialization Mode.  The initial equations are solved when somebody asks for a value, or at last. */
khz_fmu_status khz_fmu_begin(khz_fmu *f, double start, int has_stop, double stop);
khz_fmu_status khz_fmu_started(khz_fmu *f);
/* The end: `when terminal()`. */
khz_fmu_status khz_fmu_terminate(khz_fmu *f);

/* A place among references: a value of one that stands for several. */
typedef struct khz_fmu_place {
    size_t at, value;
} khz_fmu_place;

/* The reference of the single value at a place, which goes on to the next. */
uint32_t khz_fmu_next(const uint32_t *references, khz_fmu_place *p);
/* Do the references stand for as many values as the importer says?  Else it is told. */
int khz_fmu_fits(const khz_fmu *f, const uint32_t *references, size_t n, size_t n_values);
/* References of single values in a room for all there are; NULL, and the importer is told, where it is too small. */
const uint32_t *khz_fmu_single(const khz_fmu *f, const uint32_t *references, size_t n, size_t n_values, uint32_t *room);

/* After parameters changed: those that depend on them, and kept factorisations. */
khz_fmu_status khz_fmu_renew(khz_fmu *f);
/* Everything as it is at the present point; call it before values are read. */
khz_fmu_status khz_fmu_refresh(khz_fmu *f);
khz_fmu_status khz_fmu_get_real(const khz_fmu *f, uint32_t reference, double *value);
khz_fmu_status khz_fmu_get_whole(const khz_fmu *f, uint32_t reference, int type, int32_t *value);
khz_fmu_status khz_fmu_get_text(const khz_fmu *f, uint32_t reference, const char **value);
khz_fmu_status khz_fmu_set_real(khz_fmu *f, uint32_t reference, double value);
khz_fmu_status khz_fmu_set_whole(khz_fmu *f, uint32_t reference, int type, int32_t value);
khz_fmu_status khz_fmu_set_text(khz_fmu *f, uint32_t reference, const char *value);

/* Clocks: whether one ticks in this event (NULL: no clock), its interval and shift in seconds where they are wanted. */
int32_t *khz_fmu_clock(const khz_fmu *f, uint32_t reference);
khz_fmu_status khz_fmu_clock_times(const khz_fmu *f, uint32_t reference, double *interval, double *shift);

/* Model Exchange. */
typedef struct khz_fmu_news {
    int terminate, states_changed, has_next_event;
    double next_event;
} khz_fmu_news;

void khz_fmu_set_time(khz_fmu *f, double time);
khz_fmu_status khz_fmu_set_states(khz_fmu *f, const double *x);
khz_fmu_status khz_fmu_states(khz_fmu *f, double *x);
khz_fmu_status khz_fmu_nominals(const khz_fmu *f, double *nominal);
/* Is it the number of elements that the importer says?  Else it is told. */
int khz_fmu_count(const khz_fmu *f, size_t said, int32_t n);
khz_fmu_status khz_fmu_derivatives(khz_fmu *f, double *xd);
khz_fmu_status khz_fmu_indicators(khz_fmu *f, double *z);
khz_fmu_status khz_fmu_enter_event(khz_fmu *f);
/* Back to Continuous-Time Mode. */
khz_fmu_status khz_fmu_continue(khz_fmu *f);
/* Event iteration to its end. */
khz_fmu_status khz_fmu_event(khz_fmu *f, khz_fmu_news *news);
/* A step of the importer's solver was accepted. */
khz_fmu_status khz_fmu_accepted(khz_fmu *f);
/* sensitivity = d unknowns / d knowns * seed: symbolic from states to their derivatives, else by differences. */
khz_fmu_status khz_fmu_directional(khz_fmu *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                                   size_t n_knowns, const double *seed, double *sensitivity);

/* What a step of Co-Simulation came to, besides its status. */
typedef struct khz_fmu_step_end {
    int terminated; /* the model wants to end the run */
    int is_early;   /* the importer wanted to come back before the end */
    int has_events; /* discrete values may have changed */
} khz_fmu_step_end;

/* Co-Simulation: whole periods of the stepper from `time` on. */
khz_fmu_status khz_fmu_step(khz_fmu *f, double time, double length, khz_fmu_step_end *end);
double khz_fmu_time(const khz_fmu *f);
/* Between steps, in Event Mode: what was set, and the clocks that tick. */
khz_fmu_status khz_fmu_step_event(khz_fmu *f, khz_fmu_news *news);
/* Back from Event Mode to Step Mode. */
khz_fmu_status khz_fmu_enter_step(khz_fmu *f);

/* States: a copy of all that changes, external objects excepted. */
typedef struct khz_fmu_state khz_fmu_state;
khz_fmu_status khz_fmu_get_state(const khz_fmu *f, khz_fmu_state **state);
khz_fmu_status khz_fmu_set_state(khz_fmu *f, const khz_fmu_state *state);
void khz_fmu_free_state(khz_fmu_state *state);
size_t khz_fmu_state_size(const khz_fmu *f);
khz_fmu_status khz_fmu_write_state(const khz_fmu *f, const khz_fmu_state *state, void *bytes, size_t n);
khz_fmu_status khz_fmu_read_state(const khz_fmu *f, const void *bytes, size_t n, khz_fmu_state **state);

#endif
