#define _GNU_SOURCE
#include "khz_isolate.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { OTHER_NUMBERS = 0x40000000 }; /* the same calls once more, for pointers of 32 bits */
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
enum { OTHER_NUMBERS = 0 };
#define MACHINE AUDIT_ARCH_AARCH64
#else
enum { OTHER_NUMBERS = 0 };
#define MACHINE 0U
#endif

enum { MOST_LINES = 128 };

/* Time, waiting, memory, the thread's own signals and end. */
static const int allowed[] = {
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_gettimeofday,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_futex,
    SYS_sched_yield,
    SYS_getrusage,
    SYS_gettid,
    SYS_getpid,
    SYS_getcpu,
    SYS_getrandom,
    SYS_rt_sigprocmask,
    SYS_rt_sigsuspend,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_restart_syscall,
    SYS_brk,
    SYS_munmap,
    SYS_mremap,
    SYS_madvise,
    SYS_set_robust_list,
    SYS_exit,
};

/* What the main thread of a process does beside that. */
static const int supervising[] = {
    SYS_rt_sigtimedwait,
    SYS_ppoll,
    SYS_wait4,
    SYS_setitimer,
    SYS_exit_group,
#if defined(__x86_64__)
    SYS_poll,
    SYS_alarm,
#endif
};

typedef struct program {
    struct sock_filter lines[MOST_LINES];
    unsigned short n;
} program;

/* Jumps are over so many lines behind this one. */
static void add(program *p, int code, uint32_t value, uint8_t then, uint8_t otherwise)
{
    p->lines[p->n++] = (struct sock_filter){(uint16_t)code, then, otherwise, value};
}

static void load(program *p, size_t at) { add(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)at, 0, 0); }

static void say(program *p, uint32_t verdict) { add(p, BPF_RET | BPF_K, verdict, 0, 0); }

static void allow(program *p, const int *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)numbers[i], 0, 1);
        say(p, SECCOMP_RET_ALLOW);
    }
}

/* The low half of an argument, where `test` is true of it: another verdict than otherwise. */
static void allow_by_argument(program *p, int number, size_t argument, int test, uint32_t value, uint32_t if_true)
{
    const uint32_t otherwise = if_true == SECCOMP_RET_ALLOW ? SECCOMP_RET_TRAP : SECCOMP_RET_ALLOW;
    add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 4);
    load(p, offsetof(struct seccomp_data, args) + 8 * argument); /* little endian: the low half comes first */
    add(p, BPF_JMP | test | BPF_K, value, 0, 1);
    say(p, if_true);
    say(p, otherwise);
}

int khz_isolate(int supervises)
{
    program p = {.n = 0};
    const uint32_t me = (uint32_t)getpid();
    load(&p, offsetof(struct seccomp_data, arch));
    add(&p, BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0);
    say(&p, SECCOMP_RET_KILL_PROCESS);
    load(&p, offsetof(struct seccomp_data, nr));
    if (OTHER_NUMBERS != 0) {
        add(&p, BPF_JMP | BPF_JSET | BPF_K, OTHER_NUMBERS, 0, 1);
        say(&p, SECCOMP_RET_TRAP);
    }
    allow(&p, allowed, sizeof allowed / sizeof *allowed);
    if (supervises) {
        allow(&p, supervising, sizeof supervising / sizeof *supervising);
    }
    allow_by_argument(&p, SYS_mmap, 2, BPF_JSET, PROT_EXEC, SECCOMP_RET_TRAP); /* memory, no code */
    allow_by_argument(&p, SYS_mprotect, 2, BPF_JSET, PROT_EXEC, SECCOMP_RET_TRAP);
    allow_by_argument(&p, SYS_kill, 0, BPF_JEQ, me, SECCOMP_RET_ALLOW); /* signals to its own process */
    allow_by_argument(&p, SYS_tgkill, 0, BPF_JEQ, me, SECCOMP_RET_ALLOW);
    say(&p, SECCOMP_RET_TRAP);
    const struct sock_fprog whole = {p.n, p.lines};
    if (MACHINE == 0U) {
        return ENOSYS;
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole, 0, 0) != 0) {
        return errno;
    }
    return 0;
}

const char *khz_isolate_name(int32_t number)
{
    static const struct {
        int number;
        const char *name;
    } known[] = {
#if defined(__x86_64__)
        {SYS_open, "open"},
        {SYS_unlink, "unlink"},
        {SYS_rename, "rename"},
        {SYS_mkdir, "mkdir"},
        {SYS_poll, "poll"},
        {SYS_select, "select"},
        {SYS_fork, "fork"},
        {SYS_vfork, "vfork"},
#endif
        {SYS_openat, "openat"},
        {SYS_close, "close"},
        {SYS_read, "read"},
        {SYS_write, "write"},
        {SYS_readv, "readv"},
        {SYS_writev, "writev"},
        {SYS_pread64, "pread64"},
        {SYS_pwrite64, "pwrite64"},
        {SYS_lseek, "lseek"},
        {SYS_fstat, "fstat"},
        {SYS_newfstatat, "newfstatat"},
        {SYS_ioctl, "ioctl"},
        {SYS_fcntl, "fcntl"},
        {SYS_unlinkat, "unlinkat"},
        {SYS_renameat, "renameat"},
        {SYS_mkdirat, "mkdirat"},
        {SYS_socket, "socket"},
        {SYS_connect, "connect"},
        {SYS_bind, "bind"},
        {SYS_sendto, "sendto"},
        {SYS_recvfrom, "recvfrom"},
        {SYS_sendmsg, "sendmsg"},
        {SYS_recvmsg, "recvmsg"},
        {SYS_ppoll, "ppoll"},
        {SYS_pselect6, "pselect6"},
        {SYS_clone, "clone"},
        {SYS_clone3, "clone3"},
        {SYS_execve, "execve"},
        {SYS_kill, "kill"},
        {SYS_tgkill, "tgkill"},
        {SYS_ptrace, "ptrace"},
        {SYS_mmap, "mmap"},
        {SYS_mprotect, "mprotect"},
        {SYS_exit_group, "exit_group"},
        {SYS_rt_sigaction, "rt_sigaction"},
        {SYS_prctl, "prctl"},
        {SYS_setpriority, "setpriority"},
        {SYS_sched_setscheduler, "sched_setscheduler"},
        {SYS_sched_setaffinity, "sched_setaffinity"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].number == number) {
            return known[i].name;
        }
    }
    return "";
}
