#include "khz_base.h"

#include <stdio.h>
#include <string.h>

void khz_fail(khz_context *c, khz_status status, int place, const char *message)
{
    if (c->status != KHZ_OK) {
        return;
    }
    c->status = (int32_t)status;
    c->place = place;
    size_t n = strlen(message);
    if (n >= sizeof c->message) {
        n = sizeof c->message - 1;
    }
    memcpy(c->message, message, n);
    c->message[n] = '\0';
}

static void fail_subscript(khz_context *c, int32_t subscript, int32_t size)
{
    char text[64];
    (void)snprintf(text, sizeof text, "subscript %ld outside 1 to %ld", (long)subscript, (long)size);
    khz_fail(c, KHZ_BAD_INDEX, KHZ_NOWHERE, text);
}

void khz_wrong_subscript(khz_context *c, int32_t subscript, int32_t size)
{
    if (c->phase != KHZ_PHASE_EVENT && c->phase != KHZ_PHASE_INITIAL) {
        fail_subscript(c, subscript, size);
    } else if (c->n_wrong++ == 0) {
        c->wrong_size = size;
        c->wrong_subscript = subscript;
        c->wrong_block = c->block;
    }
}

void khz_settle_subscripts(khz_context *c)
{
    if (c->n_wrong > 0) {
        c->block = c->status == KHZ_OK ? c->wrong_block : c->block;
        fail_subscript(c, c->wrong_subscript, c->wrong_size);
        c->n_wrong = 0;
    }
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
