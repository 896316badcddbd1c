#include <string.h>

#include "ModelicaUtilities.h"
#include "check.h"
#include "khz_text.h"

typedef struct instance {
    khz_context c;
    _Alignas(16) unsigned char arena[256];
} instance;

static void fresh(instance *z)
{
    memset(z, 0, sizeof *z);
    z->c.arena_offset = offsetof(instance, arena);
    z->c.arena_size = sizeof z->arena;
    z->c.place = KHZ_NOWHERE;
}

int main(void)
{
    instance z;
    fresh(&z);
    CHECK(strcmp(khz_concat(&z.c, "ab", "cd"), "abcd") == 0);
    CHECK(strcmp(khz_string_real(&z.c, 0.1, 6), "0.1") == 0);
    CHECK(strcmp(khz_string_format(&z.c, 3.14159, ".3f"), "3.142") == 0);
    CHECK(strcmp(khz_string_format(&z.c, 7.0, "03d"), "007") == 0);
    CHECK(strcmp(khz_pad(&z.c, "a", 3, 1), "a  ") == 0 && strcmp(khz_pad(&z.c, "a", 3, 0), "  a") == 0);

    /* The arena ends: a failure, and no write outside. */
    fresh(&z);
    for (int i = 0; i < 100; i++) {
        (void)khz_concat(&z.c, "0123456789", "0123456789");
    }
    CHECK(z.c.status == KHZ_OUT_OF_MEMORY);

    /* Two of three arrays are kept, in whatever order they were made; one of no size stays where it is. */
    fresh(&z);
    (void)khz_arena(&z.c, 24);
    const size_t mark = z.c.arena_used;
    char *const dropped = (char *)khz_arena(&z.c, 40);
    void *arrays[] = {NULL, khz_arena(&z.c, 20), dropped};
    arrays[0] = khz_arena(&z.c, 36);
    memcpy(arrays[0], "later", 6);
    memcpy(arrays[1], "first", 6);
    const size_t bytes[] = {36, 20, 0};
    khz_arena_keep(&z.c, mark, 3, arrays, bytes);
    CHECK(arrays[1] == dropped && arrays[0] == dropped + 32 && arrays[2] == dropped);
    CHECK(strcmp((char *)arrays[1], "first") == 0 && strcmp((char *)arrays[0], "later") == 0);
    CHECK(z.c.arena_used == mark + 32 + 48);

    /* ModelicaError comes back to the guard, with its text. */
    fresh(&z);
    jmp_buf guard;
    khz_guard = &guard;
    khz_caller = &z.c;
    if (setjmp(guard) == 0) {
        ModelicaFormatError("table %s: %d", "t", 3);
    }
    khz_guard = NULL;
    CHECK(z.c.status == KHZ_ASSERTION && strcmp(z.c.message, "table t: 3") == 0);

    /* The first failure stays. */
    khz_fail(&z.c, KHZ_DOMAIN, 7, "later");
    CHECK(z.c.status == KHZ_ASSERTION && z.c.place == KHZ_NOWHERE);

    /* While values are on their way a failure is noted, and stays the first one whatever fails for its sake. */
    fresh(&z);
    z.c.is_settling = 1;
    z.c.block = 3;
    khz_assert(&z.c, 1, 5, "too large");
    khz_wrong_subscript(&z.c, 4, 3);
    CHECK(z.c.status == KHZ_OK);
    z.c.block = 9;
    khz_fail(&z.c, KHZ_SINGULAR, 6, "no solution");
    CHECK(khz_settle_failures(&z.c) == KHZ_ASSERTION && z.c.place == 5 && z.c.block == 3);
    CHECK(strcmp(z.c.message, "too large") == 0 && z.c.noted == KHZ_OK);

    /* At once where a loop tries values, and where they stay. */
    fresh(&z);
    z.c.is_settling = z.c.n_strict = 1;
    khz_wrong_subscript(&z.c, 4, 3);
    CHECK(z.c.status == KHZ_BAD_INDEX && z.c.noted == KHZ_OK);
    return 0;
}
