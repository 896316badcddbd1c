/* A loop that does not come back from a step: it is taken off its thread.
 *
 * The watchdog condemns a task whose cycle lasts longer than the scenario allows.  The main thread of its process then
 * stops the thread where it is (a signal whose handler never returns), notes the place, gives safe outputs to the
 * task's devices in its stead, and ends the task.  Whoever was asked to wait for the thread must not: it never ends.
 * Drivers take no lock, so that one that was interrupted can be used; and the process ends some seconds later in any
 * case (an alarm), should the thread have held a lock of the C library. */
#ifndef KHZ_STUCK_H
#define KHZ_STUCK_H

#include "khz_task.h"

/* Once in a process, before its threads. */
void khz_stuck_prepare(void);
/* The calling thread runs the loop of this task. */
void khz_stuck_mine(khz_task *k);
/* Take the task off its thread: its devices are safe and it has ended when this returns. */
void khz_stuck_take(khz_task *k);

#endif
