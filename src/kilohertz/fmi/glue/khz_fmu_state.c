/* The state of an instance: a copy of its memory, which holds no pointer but those to the model's constant data. */
#include <stdlib.h>
#include <string.h>

#include "khz_fmu.h"

enum { TOKEN_SIZE = 64 };

struct khz_fmu_state {
    char token[TOKEN_SIZE];
    khz_fmu_head head;
    uint64_t size;
    _Alignas(16) unsigned char bytes[];
};

size_t khz_fmu_state_size(const khz_fmu *f) { return sizeof(khz_fmu_state) + f->size; }

static khz_fmu_state *new_state(const khz_fmu *f)
{
    khz_fmu_state *const state = (khz_fmu_state *)calloc(1, khz_fmu_state_size(f));
    if (state == NULL) {
        (void)khz_fmu_refuse(f, "there is not memory enough for a state");
    }
    return state;
}

khz_fmu_status khz_fmu_get_state(const khz_fmu *f, khz_fmu_state **state)
{
    khz_fmu_state *const s = *state != NULL ? *state : new_state(f);
    if (s == NULL) {
        return KHZ_FMU_ERROR;
    }
    strncpy(s->token, khz_fmu_described.token, TOKEN_SIZE - 1);
    s->head = f->head;
    s->size = f->size;
    memcpy(s->bytes, f->memory, f->size);
    *state = s;
    return KHZ_FMU_OK;
}

khz_fmu_status khz_fmu_set_state(khz_fmu *f, const khz_fmu_state *state)
{
    const khz_fmu_table *const t = &khz_fmu_described;
    const size_t n_bytes = sizeof(void *) * (size_t)t->n_objects;
    if (state == NULL || state->size != f->size || strncmp(state->token, t->token, TOKEN_SIZE - 1) != 0) {
        return khz_fmu_refuse(f, "this is no state of such an instance");
    }
    if (t->n_objects > 0 && state->head.is_computed != f->head.is_computed) {
        return khz_fmu_refuse(f, "external objects are no part of a state: initialise the instance before");
    }
    /* External objects stay, and so does what leads to constant data, whose address another process has elsewhere. */
    void **const objects = t->n_objects > 0 ? (void **)malloc(n_bytes) : NULL;
    if (t->n_objects > 0 && objects == NULL) {
        return khz_fmu_refuse(f, "there is not memory enough to set a state");
    }
    const khz_method *const method = f->stepper != NULL ? f->stepper->method : NULL;
    if (objects != NULL) {
        memcpy(objects, (char *)f->instance + t->objects, n_bytes);
    }
    memcpy(f->memory, state->bytes, f->size);
    if (f->stepper != NULL) {
        f->stepper->model = f->model;
        f->stepper->method = method;
    }
    if (objects != NULL) {
        memcpy((char *)f->instance + t->objects, objects, n_bytes);
    }
    free(objects);
    f->head = state->head;
    return KHZ_FMU_OK;
}

void khz_fmu_free_state(khz_fmu_state *state) { free(state); }

khz_fmu_status khz_fmu_write_state(const khz_fmu *f, const khz_fmu_state *state, void *bytes, size_t n)
{
    if (state == NULL || n < sizeof *state + state->size) {
        return khz_fmu_refuse(f, "there is no state, or not room enough for it");
    }
    memcpy(bytes, state, sizeof *state + state->size);
    return KHZ_FMU_OK;
}

khz_fmu_status khz_fmu_read_state(const khz_fmu *f, const void *bytes, size_t n, khz_fmu_state **state)
{
    if (n != khz_fmu_state_size(f)) {
        return khz_fmu_refuse(f, "these bytes are no state of such an instance");
    }
    khz_fmu_state *const s = new_state(f);
    if (s == NULL) {
        return KHZ_FMU_ERROR;
    }
    memcpy(s, bytes, n);
    if (s->size != f->size) {
        free(s);
        return khz_fmu_refuse(f, "these bytes are no state of such an instance");
    }
    *state = s;
    return KHZ_FMU_OK;
}
