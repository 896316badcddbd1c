#include <stdio.h>
#include <string.h>

#include "khz_model.h"

static void copy_message(char *to, const char *message)
{
    size_t n = strlen(message);
    while (n > 0 && message[n - 1] == '\n') { /* external C ends its messages so */
        n--;
    }
    const size_t kept = n < KHZ_MESSAGE_SIZE ? n : KHZ_MESSAGE_SIZE - 1;
    memcpy(to, message, kept);
    to[kept] = '\0';
}

void khz_fail(khz_context *c, khz_status status, int place, const char *message)
{
    if (c->status != KHZ_OK) {
        return;
    }
    c->status = (int32_t)status;
    c->failed_block = c->block;
    c->place = place;
    copy_message(c->message, message);
}

void khz_say(khz_context *c, int kind, int place, const char *text)
{
    khz_said *const said = &c->said[kind];
    if (said->n++ == 0) {
        said->time = c->time;
        said->place = place;
        copy_message(said->text, text);
    }
}

void khz_fail_settled(khz_context *c, khz_status status, int place, const char *message)
{
    if (c->is_settling == 0 || c->n_strict > 0) {
        khz_fail(c, status, place, message);
    } else if (c->noted == KHZ_OK) {
        c->noted = (int32_t)status;
        c->noted_place = place;
        c->noted_block = c->block;
        copy_message(c->noted_message, message);
    }
}

void khz_forget(void **objects, int n, const void *gone)
{
    for (int i = 0; i < n; i++) {
        objects[i] = objects[i] == gone ? NULL : objects[i];
    }
}

void khz_wrong_subscript(khz_context *c, int32_t subscript, int32_t size)
{
    char text[64];
    (void)snprintf(text, sizeof text, "subscript %ld outside 1 to %ld", (long)subscript, (long)size);
    khz_fail_settled(c, KHZ_BAD_INDEX, KHZ_NOWHERE, text);
}

void khz_wrong_sizes(khz_context *c, int32_t size, int32_t other)
{
    char text[64];
    (void)snprintf(text, sizeof text, "arrays of size %ld and %ld do not fit", (long)size, (long)other);
    khz_fail_settled(c, KHZ_DOMAIN, KHZ_NOWHERE, text);
}

void khz_check_sample(khz_context *c, int32_t place, double start, double interval)
{
    if (!(interval > 0.0) || isnan(start)) {
        char text[128];
        (void)snprintf(text, sizeof text,
                       "the interval of a sample is not positive, or its start not a number: %g and %g", interval,
                       start);
        khz_fail(c, KHZ_DOMAIN, place, text);
    }
}

khz_status khz_settle_failures(khz_context *c)
{
    const int has_own = c->status == KHZ_ASSERTION || c->status == KHZ_BAD_INDEX;
    if (c->noted != KHZ_OK && !has_own) {
        c->block = c->noted_block;
        c->status = KHZ_OK;
        khz_fail(c, (khz_status)c->noted, c->noted_place, c->noted_message);
    }
    c->noted = KHZ_OK;
    return (khz_status)c->status;
}

static void count_vague(khz_context *c, int32_t block)
{
    if (c->n_vague == 0) {
        c->vague_first = block;
        c->vague_time = c->time;
    }
    c->n_vague++;
}

void khz_note_vague(khz_context *c, int32_t block)
{
    if (c->phase == KHZ_PHASE_CONTINUOUS) {
        count_vague(c, block);
    } else {
        c->vague = block;
    }
}

void khz_settle_vague(khz_context *c)
{
    if (c->vague != 0) {
        count_vague(c, c->vague);
        c->vague = 0;
    }
}

void *khz_arena(khz_context *c, size_t n)
{
    const size_t rounded = (n + 15U) & ~(size_t)15U;
    if (rounded < n || rounded > c->arena_size - c->arena_used) {
        char text[128];
        (void)snprintf(text, sizeof text, "arrays of functions need %zu bytes and %zu of %zu are free", n,
                       c->arena_size - c->arena_used, c->arena_size);
        khz_fail(c, KHZ_OUT_OF_MEMORY, KHZ_NOWHERE, text);
        /* Hand out the arena from its start: the result is discarded, but writing to it must be harmless. */
        return rounded <= c->arena_size ? (unsigned char *)c + c->arena_offset : NULL;
    }
    void *const room = (unsigned char *)c + c->arena_offset + c->arena_used;
    c->arena_used += rounded;
    return room;
}

/* The array with the lowest address from `at` on, -1: none; an array of no size has none. */
static int lowest_from(const unsigned char *at, int n, void *const *arrays, const size_t *bytes)
{
    int found = -1;
    for (int i = 0; i < n; i++) {
        const int is_there = bytes[i] > 0 && (const unsigned char *)arrays[i] >= at;
        found = is_there && (found < 0 || (unsigned char *)arrays[i] < (unsigned char *)arrays[found]) ? i : found;
    }
    return found;
}

void khz_arena_keep(khz_context *c, size_t mark, int n, void **arrays, const size_t *bytes)
{
    if (c->status == KHZ_OUT_OF_MEMORY) {
        return; /* what has no room lies anywhere (khz_arena), and nobody reads it */
    }
    unsigned char *const arena = (unsigned char *)c + c->arena_offset;
    const unsigned char *from = arena + mark;
    size_t used = mark;
    for (int i = lowest_from(from, n, arrays, bytes); i >= 0; i = lowest_from(from, n, arrays, bytes)) {
        from = (unsigned char *)arrays[i] + bytes[i];
        memmove(arena + used, arrays[i], bytes[i]);
        arrays[i] = arena + used;
        used += (bytes[i] + 15U) & ~(size_t)15U;
    }
    c->arena_used = used;
}

/* What a model has nothing for (khz_model.h). */
khz_status khz_no_blocks(void *instance) { return (khz_status)((const khz_context *)instance)->status; }

void khz_no_action(void *instance) { (void)instance; }

void khz_no_values(void *instance, khz_real *values)
{
    (void)instance;
    (void)values;
}

void khz_no_instants(void *instance, double *at)
{
    (void)instance;
    (void)at;
}
