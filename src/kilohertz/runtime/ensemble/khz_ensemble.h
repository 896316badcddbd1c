/* What a step that stands in one text begins with (building/ensemble.py): which target it is written for.
 *
 * Every function carries KHZ_CODE, every table KHZ_TABLE.  C has nothing else to say about them; CUDA puts both on the
 * device.  Besides <math.h>, memcpy and memset nothing of the C library is called; nothing changes outside of
 * the memory of an instance.  Probes are nothing, and texts of messages are those parts that are written in the model.
 */
#ifndef KHZ_ENSEMBLE_H
#define KHZ_ENSEMBLE_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(KHZ_SINGLE) && !defined(__cplusplus)
#include <tgmath.h>
#endif

#ifdef __CUDACC__
#define KHZ_CODE static __device__
#define KHZ_APART __noinline__ /* what is not said to be inline: all in one takes minutes to compile */
#define KHZ_TABLE static __device__
#define KHZ_LATER extern __device__ /* the model's table, which stands after the stepper */
#define KHZ_NOW __device__
#define KHZ_DOOR extern "C" __global__
#define KHZ_INLINE __forceinline__
#define restrict __restrict__
#define _Alignas(n) __align__(n)
#else
#define KHZ_CODE static
#define KHZ_APART
#define KHZ_TABLE static
#define KHZ_LATER static
#define KHZ_NOW static
#define KHZ_DOOR
#define KHZ_INLINE inline __attribute__((always_inline))
#endif
#define KHZ_EXPORT
#define KHZ_NOINLINE
#define KHZ_COMPACT

#define KHZ_ENTER(c, place) ((void)0)
#define KHZ_LEAVE(c, place) ((void)0)
#define KHZ_WITHIN(c, place, statement)                                                                                \
    do {                                                                                                               \
        (void)(c);                                                                                                     \
        statement;                                                                                                     \
    } while (0)
#define KHZ_NEXT(c, place, next) ((void)0)
#define KHZ_COPY(c, model) ((void)(c), (model))
#define KHZ_RESIDUAL(c, n, f) ((void)0)
#define KHZ_COUNT(c, place, n) ((void)0)
#define KHZ_COUNTED(c, place, call) (call)
#define KHZ_TOUCHED(c, place) ((void)0)
#define KHZ_CALLED(c, place) ((void)0)
#define KHZ_RETURNS(c, place) ((void)0)
#define KHZ_TIMED(c, place, call) (call)
#define KHZ_SOLVED(c, place, call) (call)
#define KHZ_ITERATED(c, place, call) (call)
/* No numbers in messages: the words alone. */
#define snprintf(text, size, ...) khz_words((text), (size), __VA_ARGS__, 0)
#define khz_words(text, size, words, ...) khz_worded((text), (size), (words))
#define strlen khz_length
#define strcmp khz_compare
#define memcmp khz_differ
#define memmove khz_shift

KHZ_CODE size_t khz_length(const char *text)
{
    size_t n = 0;
    while (text[n] != '\0') {
        n++;
    }
    return n;
}

KHZ_CODE int khz_compare(const char *a, const char *b)
{
    size_t i = 0;
    while (a[i] != '\0' && a[i] == b[i]) {
        i++;
    }
    return (int)(unsigned char)a[i] - (int)(unsigned char)b[i];
}

KHZ_CODE void *khz_shift(void *to, const void *from, size_t n)
{
    unsigned char *const target = (unsigned char *)to;
    const unsigned char *const source = (const unsigned char *)from;
    for (size_t i = 0; i < n; i++) {
        const size_t at = target <= source ? i : n - 1 - i; /* what is still to be read stays */
        target[at] = source[at];
    }
    return to;
}

KHZ_CODE int khz_differ(const void *a, const void *b, size_t n)
{
    const unsigned char *const first = (const unsigned char *)a;
    const unsigned char *const second = (const unsigned char *)b;
    size_t i = 0;
    while (i < n && first[i] == second[i]) {
        i++;
    }
    return i < n;
}

#ifdef __CUDACC__
/* 1 where a whole number is beyond 32 bits. */
KHZ_CODE int khz_overflows(int64_t whole, int32_t *number)
{
    *number = (int32_t)whole;
    return whole != (int64_t)*number;
}
#define __builtin_add_overflow(a, b, number) khz_overflows((int64_t)(a) + (int64_t)(b), (number))
#define __builtin_sub_overflow(a, b, number) khz_overflows((int64_t)(a) - (int64_t)(b), (number))
#define __builtin_mul_overflow(a, b, number) khz_overflows((int64_t)(a) * (int64_t)(b), (number))
#endif

KHZ_CODE int khz_worded(char *text, size_t size, const char *words)
{
    size_t n = khz_length(words);
    n = n < size ? n : size - 1;
    memcpy(text, words, n);
    text[n] = '\0';
    return (int)n;
}

#endif
