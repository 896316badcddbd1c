/* What went wrong in a step, counted where it did: by block, or by state where the method itself left the numbers. */
#include <float.h>
#include <math.h>

#include "khz_stepper_core.h"

static int is_finite(khz_real v) { return fabs(v) <= KHZ_LARGEST; }

/* Counters of a block by its number; those without a place where it is not known. */
static khz_block_counts *counts_of(khz_stepper *s, int32_t block)
{
    const int known = block >= 1 && block <= khz_model_of(s)->n_blocks;
    return (khz_block_counts *)(void *)((char *)s + s->blocks) + (known ? block - 1 : khz_model_of(s)->n_blocks);
}

/* Count the states that are not finite; 0: all are. */
static int count_states(khz_stepper *s, void *instance)
{
    uint32_t *const faults = (uint32_t *)(void *)((char *)s + s->faults);
    const khz_real *const x = khz_reals(instance, khz_model_of(s)->x);
    int found = 0;
    for (int32_t i = 0; i < khz_model_of(s)->n_x; i++) {
        const uint32_t odd = !is_finite(x[i]);
        faults[i] += odd;
        found |= (int)odd;
    }
    return found;
}

/* Something went wrong now; called before it is counted. */
static void stamp(khz_block_counts *block, double time)
{
    const uint32_t before =
        block->newton_caps | block->pivots | block->failures | block->not_finite | block->event_caps;
    block->first_time = before == 0 ? time : block->first_time;
    block->time = time;
}

static void count_not_finite(khz_stepper *s, khz_block_counts *block)
{
    block->not_finite++;
    s->counts.not_finite++;
    s->flags |= KHZ_STEP_NOT_FINITE;
}

/* The block that a failure belongs to. */
static khz_block_counts *blamed(khz_stepper *s, khz_context *c, khz_status status)
{
    const khz_model *const m = khz_model_of(s);
    if (status == KHZ_NOT_FINITE) {
        return counts_of(s, count_states(s, c) ? KHZ_NOWHERE : khz_first_not_finite(m, c, m->n_step_values));
    }
    return counts_of(s, status == KHZ_EVENT_CAP ? m->discrete_block[c->restless] : khz_failed_block(c));
}

void khz_stepper_note(khz_stepper *s, khz_status status)
{
    khz_context *const c = (khz_context *)khz_stepper_instance(s);
    if (s->is_trial) {
        c->status = KHZ_OK;
        return;
    }
    khz_block_counts *const block = blamed(s, c, status);
    stamp(block, c->time);
    if (status == KHZ_NO_CONVERGENCE) {
        block->newton_caps++;
        s->counts.newton_caps++;
        s->flags |= KHZ_STEP_NEWTON_CAP;
    } else if (status == KHZ_SINGULAR) {
        block->pivots++;
        s->counts.pivots++;
        s->flags |= KHZ_STEP_PIVOT;
    } else if (status == KHZ_NOT_FINITE) {
        count_not_finite(s, block);
    } else if (status == KHZ_EVENT_CAP) {
        block->event_caps++;
        s->counts.event_caps++;
        s->flags |= KHZ_STEP_EVENT_CAP;
    } else {
        khz_say(c, KHZ_SAID_ERROR, c->place, c->message);
        block->failures++;
        s->counts.failures++;
        s->flags |= KHZ_STEP_FAILURE;
    }
    c->status = KHZ_OK;
}

void khz_stepper_note_values(khz_stepper *s)
{
    const khz_model *const m = khz_model_of(s);
    khz_context *const c = (khz_context *)khz_stepper_instance(s);
    if (!s->is_shown && khz_only_views_are_odd(m, c)) { /* of an earlier step, which said so */
        c->n_detours++;
        return;
    }
    khz_block_counts *const block = counts_of(s, khz_first_not_finite(m, c, m->n_values));
    stamp(block, c->time);
    count_not_finite(s, block);
}

void khz_stepper_note_caps(khz_stepper *s, uint32_t before)
{
    khz_context *const c = (khz_context *)khz_stepper_instance(s);
    if (c->n_caps == before) {
        return;
    }
    khz_block_counts *const block = counts_of(s, c->cap_block);
    stamp(block, c->time);
    block->newton_caps += c->n_caps - before;
    block->residual = fmax(block->residual, c->cap_residual);
    s->counts.newton_caps += c->n_caps - before;
    s->flags |= KHZ_STEP_NEWTON_CAP;
}
