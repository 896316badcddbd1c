/* Strings in the arena, asserts, and the guard around external C code. */
#ifndef KHZ_TEXT_H
#define KHZ_TEXT_H

#include <setjmp.h>

#include "khz_base.h"

const char *khz_concat(khz_context *c, const char *a, const char *b);
int khz_compare(const char *a, const char *b);
const char *khz_string_int(khz_context *c, int32_t x);
const char *khz_string_real(khz_context *c, double x, int32_t significant_digits);
/* A text brought to a length with blanks, after it (left) or before. */
const char *khz_pad(khz_context *c, const char *text, int32_t length, int32_t left);
const char *khz_string_format(khz_context *c, double x, const char *format);

/* A failed assert: an error is a failure, a warning is counted and handed to the listener. */
void khz_assert(khz_context *c, int is_error, int place, const char *message);
void khz_terminate(khz_context *c, int place, const char *message);

/* Who hears messages of the model (off-line only; NULL: nobody).  level 0: message, 1: warning. */
typedef void (*khz_listener_fn)(int level, int place, double time, const char *message);
KHZ_EXPORT void khz_set_listener(khz_listener_fn listener);

/* ModelicaError must not return to external C code: it jumps to the innermost guard, which never leaves the wrapper of
 * that one call.  Models without external functions never set one. */
extern _Thread_local jmp_buf *khz_guard;
extern _Thread_local khz_context *khz_caller;

#endif
