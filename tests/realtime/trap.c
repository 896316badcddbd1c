/* Preloaded into a rig: once a thread has slept until an absolute instant it may not allocate any more. */
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

__attribute__((visibility("default"))) int clock_nanosleep(clockid_t, int, const struct timespec *, struct timespec *);
__attribute__((visibility("default"))) void *malloc(size_t n);
__attribute__((visibility("default"))) void *calloc(size_t n, size_t size);
__attribute__((visibility("default"))) void *realloc(void *p, size_t n);

static _Thread_local int is_periodic __attribute__((tls_model("initial-exec")));

static void check(void)
{
    static const char said[] = "the periodic thread allocates\n";
    if (is_periodic) {
        (void)!write(2, said, sizeof said - 1);
        _exit(77);
    }
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
{
    is_periodic |= flags == TIMER_ABSTIME;
    return syscall(SYS_clock_nanosleep, clock, flags, until, left) == 0 ? 0 : 4 /* EINTR */;
}

void *malloc(size_t n)
{
    check();
    return __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    check();
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    check();
    return __libc_realloc(p, n);
}
