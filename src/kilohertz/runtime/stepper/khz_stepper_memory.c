/* The memory of a stepper: offsets and the division of its work area. */
#include <string.h>

#include "khz_jacobian.h"
#include "khz_stepper_core.h"

static size_t aligned(size_t n) { return (n + KHZ_ALIGNMENT - 1) / KHZ_ALIGNMENT * KHZ_ALIGNMENT; }

/* Hand out n things of so many bytes, in whole doubles; counts alone where there is no work area. */
static void *take_room(double *base, size_t *used, size_t n, size_t bytes)
{
    double *const at = base != NULL ? base + *used : NULL;
    *used += (n * bytes + sizeof(double) - 1) / sizeof(double);
    return at;
}

static khz_real *take(double *base, size_t *used, size_t n)
{
    return (khz_real *)take_room(base, used, n, sizeof(khz_real));
}

static double *take_times(double *base, size_t *used, size_t n)
{
    return (double *)take_room(base, used, n, sizeof(double));
}

static int32_t *take_ints(double *base, size_t *used, size_t n)
{
    return (int32_t *)take_room(base, used, n, sizeof(int32_t));
}

static void divide_implicit(const khz_stepper *s, double *base, size_t *used, khz_work *w)
{
    const khz_model *const m = khz_model_of(s);
    const khz_sparse_plan *const plan = m->lu_plan;
    const size_t n = (size_t)khz_n_y(m);
    w->jac = take(base, used, (size_t)m->jac_row[khz_n_y(m)]);
    w->jac_next = take(base, used, khz_settings_of(s)->jacobian_spread ? (size_t)m->jac_row[khz_n_y(m)] : 0);
    w->jac_work = take(base, used, khz_jacobian_work(m));
    w->ft = take(base, used, n);
    w->res_scale = take(base, used, (size_t)m->n_z);
    w->matrix = take(base, used, plan != NULL ? (size_t)plan->n_a : 0);
    w->lu = take(base, used, plan != NULL ? khz_sparse_size(plan) : 0);
    w->dense = take(base, used, n * n);
    w->scale = take(base, used, n);
    w->solve = take(base, used, n);
    w->pivot = take_ints(base, used, n);
}

size_t khz_stepper_work(khz_stepper *s, khz_work *w)
{
    const khz_model *const m = khz_model_of(s);
    const size_t n = (size_t)khz_n_y(m);
    double *const base = s->size > 0 ? (double *)(void *)((char *)s + s->work) : NULL;
    khz_real **const vectors[] = {&w->x0, &w->x1, &w->f0, &w->stage, &w->kept_x};
    khz_real **const relations[] = {&w->g0,     &w->g1,    &w->g2,        &w->slope,
                                    &w->change, &w->depth, &w->rest.band, &w->rest.age};
    khz_real **const inputs[] = {&w->u0, &w->u1, &w->u2};
    size_t used = 0;
    memset(w, 0, sizeof *w);
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        *vectors[i] = take(base, &used, n);
    }
    w->k = take(base, &used, (size_t)khz_method_of(s)->n_stages * n);
    for (size_t i = 0; i < sizeof relations / sizeof relations[0]; i++) {
        *relations[i] = take(base, &used, (size_t)m->n_r);
    }
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        *inputs[i] = take(base, &used, (size_t)m->n_u);
    }
    w->ui = take_ints(base, &used, (size_t)m->n_ui);
    w->crossed = take_times(base, &used, (size_t)m->n_r);
    w->at = take_times(base, &used, (size_t)m->n_time_events);
    w->delayed = take(base, &used, (size_t)m->n_recorded);
    w->kept_d = take(base, &used, 2 * (size_t)m->n_d);
    w->kept_m = take_ints(base, &used, 2 * (size_t)m->n_m);
    w->kept_r = take_ints(base, &used, (size_t)m->n_r);
    w->kept_s = (char *)take_room(base, &used, 2 * (size_t)m->n_s, KHZ_TEXT_SIZE);
    if (khz_method_of(s)->kind != KHZ_EXPLICIT && !khz_settings_of(s)->inlined) {
        divide_implicit(s, base, &used, w);
    }
    return used;
}

const khz_work *khz_stepper_divide(khz_stepper *s)
{
    khz_work *const w = (khz_work *)(void *)((char *)s + s->division);
    if (w->home != s) {
        (void)khz_stepper_work(s, w);
        w->instance = (char *)s + s->instance;
        w->home = s;
    }
    return w;
}

/* Every field is in its range, or zero for its default. */
static int in_range(const khz_step_settings *s)
{
    int all = 1;
#define IN_RANGE(field, fallback, least, most) all &= s->field == 0 || (s->field >= (least) && s->field <= (most));
    KHZ_STEP_SETTINGS(IN_RANGE)
#undef IN_RANGE
    return all;
}

static void fill_in_defaults(khz_step_settings *s)
{
#define FILL_IN(field, fallback, least, most) s->field = s->field != 0 ? s->field : (fallback);
    KHZ_STEP_SETTINGS(FILL_IN)
#undef FILL_IN
}

static int makes_sense(const khz_model *m, const khz_step_settings *s)
{
    const int known = s->method >= 0 && s->method < khz_n_methods && s->period_ns > 0 && m->abi == KHZ_ABI;
    const int32_t kind = known ? khz_methods[s->method].kind : KHZ_EXPLICIT;
    const int inlinable = !s->inlined || (m->inlined != NULL && kind == KHZ_DIRK && m->stage_role == NULL);
    /* what is held during sub-steps moves linearly, so that no more than order 2 can be had with them */
    const int mixable = s->inlined && m->inlined != NULL && (s->substeps <= 1 || khz_methods[s->method].order <= 2);
    const int dividable = s->internal_steps <= 1 || s->period_ns % s->internal_steps == 0;
    /* The Jacobian of a program in the index-1 form is that of the whole: no other form can use it. */
    const int index_1 = m->n_z == 0 || (known && !s->inlined && khz_methods[s->method].index1_order > 0);
    const int fits = kind == KHZ_PAIR ? mixable : inlinable && s->substeps <= 1;
    return known && in_range(s) && dividable && index_1 && fits;
}

size_t khz_stepper_lay_out(khz_stepper *s, const khz_model *m, const khz_step_settings *given)
{
    memset(s, 0, sizeof *s);
    khz_work w;
    if (!makes_sense(m, given)) {
        return 0;
    }
    s->model = m;
    s->method = &khz_methods[given->method];
    s->settings = *given;
    fill_in_defaults(&s->settings);
    s->settings.period_ns = given->period_ns / s->settings.internal_steps;
    s->division = aligned(sizeof *s);
    s->work = s->division + aligned(sizeof w);
    s->blocks = s->work + aligned(sizeof(double) * khz_stepper_work(s, &w));
    s->faults = s->blocks + aligned(sizeof(khz_block_counts) * ((size_t)m->n_blocks + 1));
    s->flips = s->faults + aligned(sizeof(uint32_t) * (size_t)m->n_x);
    s->instance = s->flips + aligned(6 * sizeof(uint32_t) * (size_t)m->n_r);
    s->size = s->instance + aligned(m->size);
    return s->size;
}

static int is_same(const khz_step_settings *a, const khz_step_settings *b)
{
#define KHZ_DIFFERS(field, standard, least, largest) | (a->field != b->field)
    return !((a->period_ns != b->period_ns) | (a->method != b->method) KHZ_STEP_SETTINGS(KHZ_DIFFERS));
#undef KHZ_DIFFERS
}

uint32_t (*khz_stepper_made(const khz_stepper *s, const khz_made *made))(khz_stepper *s)
{
    const int is_made = made != NULL && made->step != NULL && is_same(&made->settings, &s->settings);
    return is_made ? made->step : khz_stepper_step;
}

const char *khz_stepper_word(const khz_stepper *s, const khz_made *made)
{
    if (made == NULL) {
        return "generic: it was linked without one for its method";
    }
    const int fits = made->step == NULL || is_same(&made->settings, &s->settings);
    return fits ? made->word : "generic: its settings are not those that a step was made for";
}
