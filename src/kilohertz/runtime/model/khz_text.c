#include "khz_text.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ModelicaUtilities.h"
#include "khz_math.h"

_Thread_local jmp_buf *khz_guard = NULL;
_Thread_local khz_context *khz_caller = NULL;
_Thread_local int32_t khz_is_paced = 0;
_Atomic int khz_thread_failed = KHZ_NO_THREAD_FAILED;
static char said_by_thread[KHZ_MESSAGE_SIZE];
static _Thread_local khz_listener_fn listener_now = NULL;

void khz_set_paced(int32_t is_paced) { khz_is_paced = is_paced; }

void khz_set_listener(khz_listener_fn listener) { listener_now = listener; }

static char *room(khz_context *c, size_t n)
{
    char *const text = (char *)khz_arena(c, n);
    return c->status != KHZ_OUT_OF_MEMORY ? text : NULL;
}

const char *khz_concat(khz_context *c, const char *a, const char *b)
{
    const size_t n = strlen(a);
    const size_t m = strlen(b);
    char *const text = room(c, n + m + 1);
    if (text == NULL) {
        return "";
    }
    memcpy(text, a, n);
    memcpy(text + n, b, m + 1);
    return text;
}

int khz_compare(const char *a, const char *b) { return strcmp(a, b); }

static const char *kept(khz_context *c, const char *text) { return khz_concat(c, text, ""); }

const char *khz_pad(khz_context *c, const char *text, int32_t length, int32_t left)
{
    const size_t n = strlen(text);
    const size_t whole = length > 0 && (size_t)length > n ? (size_t)length : n;
    char *const out = room(c, whole + 1);
    if (out == NULL) {
        return "";
    }
    memset(out, ' ', whole);
    memcpy(left ? out : out + (whole - n), text, n);
    out[whole] = '\0';
    return out;
}

const char *khz_string_int(khz_context *c, int32_t x)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%d", (int)x);
    return kept(c, text);
}

const char *khz_string_real(khz_context *c, double x, int32_t significant_digits)
{
    char text[64];
    (void)snprintf(text, sizeof text, "%.*g", (int)(significant_digits > 40 ? 40 : significant_digits), x);
    return kept(c, text);
}

/* `format` is a C conversion without the leading %, for a double or an Integer (MLS 3.7.3). */
const char *khz_string_format(khz_context *c, double x, const char *format)
{
    char text[128];
    char whole[32];
    const size_t n = strlen(format);
    const int is_short = n > 0 && n <= sizeof whole - 2;
    const int is_plain = is_short && strspn(format, "0123456789.+-# ") == n - 1;
    if (!is_plain || strchr("dieEfFgG", format[n - 1]) == NULL) {
        khz_fail_settled(c, KHZ_DOMAIN, KHZ_NOWHERE, "a text is not a format for a number");
        return khz_string_real(c, x, 6);
    }
    whole[0] = '%';
    memcpy(whole + 1, format, n + 1);
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#endif
    if (strchr("di", format[n - 1]) != NULL) {
        (void)snprintf(text, sizeof text, whole, khz_integer(c, trunc(x)));
    } else {
        (void)snprintf(text, sizeof text, whole, x);
    }
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
    return kept(c, text);
}

void khz_assert(khz_context *c, int is_error, int place, const char *message)
{
    if (is_error) {
        khz_fail_settled(c, KHZ_ASSERTION, place, message);
        return;
    }
    khz_say(c, KHZ_SAID_WARNING, place, message);
    if (listener_now != NULL) {
        listener_now(1, place, c->time, message);
    }
}

void khz_terminate(khz_context *c, int place, const char *message)
{
    if (c->status == KHZ_OK) {
        khz_say(c, KHZ_SAID_END, place, message);
        khz_fail(c, KHZ_TERMINATED, place, message);
    }
}

/* ----------------------------------------------------------------------------------------- for external C functions */

static void tell(int level, const char *format, va_list args)
{
    char text[KHZ_MESSAGE_SIZE];
    (void)vsnprintf(text, sizeof text, format, args);
    if (khz_caller != NULL) {
        khz_say(khz_caller, level == 0 ? KHZ_SAID_MESSAGE : KHZ_SAID_WARNING, KHZ_NOWHERE, text);
    }
    if (listener_now != NULL) {
        listener_now(level, KHZ_NOWHERE, khz_caller != NULL ? khz_caller->time : 0.0, text);
    }
}

void ModelicaMessage(const char *string) { ModelicaFormatMessage("%s", string); }

void ModelicaVFormatMessage(const char *format, va_list args) { tell(0, format, args); }

void ModelicaFormatMessage(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tell(0, format, args);
    va_end(args);
}

void ModelicaWarning(const char *string) { ModelicaFormatWarning("%s", string); }

void ModelicaVFormatWarning(const char *format, va_list args) { tell(1, format, args); }

void ModelicaFormatWarning(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tell(1, format, args);
    va_end(args);
}

void khz_fail_for_thread(khz_context *c)
{
    khz_fail(c, KHZ_ASSERTION, KHZ_NOWHERE, said_by_thread);
    atomic_store(&khz_thread_failed, KHZ_NO_THREAD_FAILED);
}

MODELICA_NORETURN void ModelicaVFormatError(const char *format, va_list args)
{
    char text[KHZ_MESSAGE_SIZE];
    (void)vsnprintf(text, sizeof text, format, args);
    if (khz_guard == NULL || khz_caller == NULL) {
        int none = KHZ_NO_THREAD_FAILED;
        if (atomic_compare_exchange_strong(&khz_thread_failed, &none, KHZ_THREAD_FAILING)) {
            memcpy(said_by_thread, text, sizeof text);
            atomic_store_explicit(&khz_thread_failed, KHZ_THREAD_FAILED, memory_order_release);
        }
        pthread_exit(NULL); /* nobody to return to */
    }
    khz_fail(khz_caller, KHZ_ASSERTION, KHZ_NOWHERE, text);
    longjmp(*khz_guard, 1);
}

MODELICA_NORETURN void ModelicaFormatError(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ModelicaVFormatError(format, args);
}

MODELICA_NORETURN void ModelicaError(const char *string) { ModelicaFormatError("%s", string); }

char *ModelicaAllocateStringWithErrorReturn(size_t len)
{
    if (khz_caller == NULL) {
        return NULL;
    }
    char *const text = (char *)khz_arena(khz_caller, len + 1);
    if (text != NULL && khz_caller->status != KHZ_OUT_OF_MEMORY) {
        text[0] = '\0';
        text[len] = '\0';
        return text;
    }
    return NULL;
}

char *ModelicaAllocateString(size_t len)
{
    char *const text = ModelicaAllocateStringWithErrorReturn(len);
    if (text == NULL) {
        ModelicaError("no room for a string");
    }
    return text;
}

char *ModelicaDuplicateStringWithErrorReturn(const char *str)
{
    char *const text = ModelicaAllocateStringWithErrorReturn(strlen(str));
    if (text != NULL) {
        memcpy(text, str, strlen(str) + 1);
    }
    return text;
}

char *ModelicaDuplicateString(const char *str)
{
    char *const text = ModelicaAllocateString(strlen(str));
    memcpy(text, str, strlen(str) + 1);
    return text;
}
