#include "khz_base.h"

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

void *khz_arena(khz_context *c, size_t n)
{
    const size_t rounded = (n + 15U) & ~(size_t)15U;
    if (rounded < n || rounded > c->arena_size - c->arena_used) {
        khz_fail(c, KHZ_OUT_OF_MEMORY, KHZ_NOWHERE, "the arrays inside functions need more room than was set aside");
        /* Hand out the arena from its start: the result is discarded, but writing to it must be harmless. */
        return rounded <= c->arena_size ? (unsigned char *)c + c->arena_offset : NULL;
    }
    void *const room = (unsigned char *)c + c->arena_offset + c->arena_used;
    c->arena_used += rounded;
    return room;
}
