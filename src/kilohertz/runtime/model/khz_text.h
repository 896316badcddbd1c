/* Strings in the arena, asserts, and the guard around external C code. */
#ifndef KHZ_TEXT_H
#define KHZ_TEXT_H

#include <setjmp.h>
#include <stdatomic.h>

#include "khz_base.h"

const char *khz_concat(khz_context *c, const char *a, const char *b);
int khz_compare(const char *a, const char *b);
const char *khz_string_int(khz_context *c, int32_t x);
const char *khz_string_real(khz_context *c, double x, int32_t significant_digits);
/* A text brought to a length with blanks, after it (left) or before. */
const char *khz_pad(khz_context *c, const char *text, int32_t length, int32_t left);
const char *khz_string_format(khz_context *c, double x, const char *format);

/* A failed assert: an error is a failure, a warning is said and handed to the listener. */
void khz_assert(khz_context *c, int is_error, int place, const char *message);
void khz_terminate(khz_context *c, int place, const char *message);

/* Who hears messages of the model (off-line only; NULL: nobody).  level 0: message, 1: warning. */
typedef void (*khz_listener_fn)(int level, int place, double time, const char *message);
KHZ_EXPORT void khz_set_listener(khz_listener_fn listener);

/* ModelicaError must not return to external C code: it jumps to the innermost guard, which never leaves the wrapper of
 * that one call.  Models without external functions never set one. */
extern _Thread_local jmp_buf *khz_guard;
extern _Thread_local khz_context *khz_caller;

/* Threads of external code have no guard: ModelicaError ends them, and the model fails at its next external call. */
enum { KHZ_NO_THREAD_FAILED, KHZ_THREAD_FAILING, KHZ_THREAD_FAILED };
extern _Atomic int khz_thread_failed;
void khz_fail_for_thread(khz_context *c);

static inline void khz_heed_threads(khz_context *c)
{
    if (atomic_load_explicit(&khz_thread_failed, memory_order_acquire) == KHZ_THREAD_FAILED) {
        khz_fail_for_thread(c);
    }
}

/* Whether somebody else paces the steps of models of this thread: their external code does not wait (khz_waits.c). */
extern _Thread_local int32_t khz_is_paced;
KHZ_EXPORT void khz_set_paced(int32_t is_paced);

#endif
