#define _GNU_SOURCE
#include "khz_stuck.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { TRIES = 500, LAST_SECONDS = 10, HANDLER_STACK = 65536, BY_FILTER = 1 /* SYS_SECCOMP of the kernel */ };

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS};
static _Thread_local khz_thread *mine;
static _Thread_local unsigned char handler_stack[HANDLER_STACK]; /* its own may be what broke */

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

static _Noreturn void rest_for_ever(void)
{
    sigset_t all;
    (void)sigfillset(&all);
    atomic_store(&mine->is_parked, 1);
    for (;;) {
        (void)sigsuspend(&all);
    }
}

static void park(int number, siginfo_t *about, void *context)
{
    (void)number;
    (void)about;
    if (mine != NULL) {
        mine->address = program_counter(context);
        rest_for_ever();
    }
}

/* The calling thread cannot go on: condemned, and the main thread is told. */
static _Noreturn void give_up(int32_t signal_number)
{
    khz_rig *const r = mine->rig;
    int32_t none = KHZ_END_NONE;
    mine->crash = signal_number;
    if (atomic_compare_exchange_strong(&r->stop, &none, KHZ_END_CRASH)) {
        atomic_store(&r->culprit, mine->index + 1);
    }
    atomic_store(&mine->is_condemned, 1);
    (void)kill(getpid(), SIGUSR2);
    rest_for_ever();
}

static void crash(int number, siginfo_t *about, void *context)
{
    if (mine != NULL && !atomic_load(&mine->is_parked)) {
        mine->address = program_counter(context);
        mine->refused = number == SIGSYS && about->si_code == BY_FILTER ? about->si_syscall + 1 : 0;
        give_up(number);
    }
    (void)signal(number, SIG_DFL); /* not in a step: the process ends as it would */
    (void)raise(number);
}

/* Code of a model called exit(): its thread gets no further than this. */
static void refuse_exit(void)
{
    if (mine != NULL && atomic_load(&mine->ended) == KHZ_END_NONE) {
        give_up(KHZ_CRASH_EXIT);
    }
}

void khz_stuck_prepare(void)
{
    struct sigaction act;
    memset(&act, 0, sizeof act);
    act.sa_sigaction = park;
    act.sa_flags = SA_SIGINFO;
    (void)sigaction(SIGRTMIN, &act, NULL);
    act.sa_sigaction = crash;
    act.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++) {
        (void)sigaction(crashes[i], &act, NULL);
    }
    (void)atexit(refuse_exit);
}

void khz_stuck_mine(khz_thread *k)
{
    stack_t stack;
    memset(&stack, 0, sizeof stack);
    memset(handler_stack, 0, sizeof handler_stack); /* its pages are here before they are needed */
    stack.ss_sp = handler_stack;
    stack.ss_size = sizeof handler_stack;
    (void)sigaltstack(&stack, NULL);
    mine = k;
}

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
    khz_thread_leave(k, k->crash != KHZ_CRASH_NONE ? KHZ_END_CRASH : KHZ_END_STUCK);
}
