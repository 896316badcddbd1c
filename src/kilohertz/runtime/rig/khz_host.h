/* A process with some of the real-time threads of a rig.  The first process prepares everything in memory that all
 * share, then forks the others: what a crash takes away is then one of them, and what it had counted and recorded is
 * still there for the report. */
#ifndef KHZ_HOST_H
#define KHZ_HOST_H

#include <signal.h>
#include <sys/types.h>

#include "khz_thread.h"

typedef struct khz_host {
    khz_rig *rig;
    sigset_t ours; /* signals that its main thread takes */
    int32_t process;
    pid_t children[KHZ_MOST_THREADS]; /* by process, 0: none (any more) */
    int leash;                        /* a pipe that closes with whoever started the rig, -1: it goes on alone */
    int64_t asked_ns;                 /* when the children were told to end, 0 */
} khz_host;

/* Signals are taken by the main thread alone; a closed terminal, a full pipe or disk must not end the rig. */
void khz_host_signals(khz_host *h);
/* End in order when the other end of this pipe closes, whatever closes it. */
void khz_host_leash(khz_host *h, int64_t descriptor);
/* Start the other processes; in each of them this does not return.  0 or errno. */
int khz_host_fork(khz_host *h);
/* Open the devices and start the threads of this process.  A message of the rig where it fails. */
khz_status khz_host_start(khz_host *h);
/* Until all threads of this process (the first: of all) are over: hand on signals, look after the other processes.
 * Otherwise asleep: every wake-up of ours may delay one of a loop. */
void khz_host_supervise(khz_host *h);

#endif
