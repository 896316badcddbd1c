/* External code that waits.
 *
 * Libraries bring blocks that hold a simulation until the wall clock has come as far.  Where the steps are paced from
 * outside (a task) or the run is only a trial, such a wait would pace the model twice: it is left out.  The linker puts
 * these functions in place of the system's (--wrap); threads of external code, which have no guard, still wait. */
#define _GNU_SOURCE
#include <time.h>
#include <unistd.h>

#include "khz_text.h"

int __real_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *rest);
int __real_nanosleep(const struct timespec *wait, struct timespec *rest);
int __real_usleep(useconds_t wait);
unsigned __real_sleep(unsigned seconds);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *wait, struct timespec *rest);
int __wrap_usleep(useconds_t wait);
unsigned __wrap_sleep(unsigned seconds);

/* Whether the caller is a model whose steps somebody else paces. */
static int left_out(void) { return khz_guard != NULL && khz_is_paced; }

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *rest)
{
    return left_out() ? 0 : __real_clock_nanosleep(clock, flags, until, rest);
}

int __wrap_nanosleep(const struct timespec *wait, struct timespec *rest)
{
    return left_out() ? 0 : __real_nanosleep(wait, rest);
}

int __wrap_usleep(useconds_t wait) { return left_out() ? 0 : __real_usleep(wait); }

unsigned __wrap_sleep(unsigned seconds) { return left_out() ? 0 : __real_sleep(seconds); }
