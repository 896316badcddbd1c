#define _GNU_SOURCE
#include "khz_stuck.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { TRIES = 500, LAST_SECONDS = 10 };

static _Thread_local khz_thread *mine;

/* Where the thread was, as far as the processor is known here. */
static uint64_t program_counter(const void *context)
{
#if defined(__x86_64__)
    return (uint64_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uint64_t)((const ucontext_t *)context)->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

static void park(int number, siginfo_t *about, void *context)
{
    (void)number;
    (void)about;
    sigset_t all;
    (void)sigfillset(&all);
    if (mine == NULL) {
        return;
    }
    mine->address = program_counter(context);
    atomic_store(&mine->is_parked, 1);
    for (;;) {
        (void)sigsuspend(&all);
    }
}

void khz_stuck_prepare(void)
{
    struct sigaction act;
    memset(&act, 0, sizeof act);
    act.sa_sigaction = park;
    act.sa_flags = SA_SIGINFO;
    (void)sigaction(SIGRTMIN, &act, NULL);
}

void khz_stuck_mine(khz_thread *k) { mine = k; }

static void send_safe(khz_thread *k)
{
    for (int32_t i = 0; i < k->n_wires; i++) {
        const khz_wire *const w = k->wires[i];
        (void)khz_port_send(w->port, k->step, (int64_t)(k->step + 1) * k->period_ns, w->outputs, 1);
    }
    k->safe_now = 1;
    k->account->counts.safe++;
}

void khz_stuck_take(khz_thread *k)
{
    const struct timespec nap = {0, 1000000};
    (void)alarm(LAST_SECONDS);
    (void)pthread_kill(k->handle, SIGRTMIN);
    for (int turn = 0; turn < TRIES && !atomic_load(&k->is_parked); turn++) {
        (void)nanosleep(&nap, NULL); /* one that waits in the kernel gets the signal later, and runs no further then */
    }
    send_safe(k);
    k->ended_ns = khz_now();
    khz_thread_leave(k, KHZ_END_STUCK);
}
