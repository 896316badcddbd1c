/* A thread that does not come back from a step: it is stopped where it is.
 *
 * Code of a model, or of others that it calls, may also break (a signal such as SIGSEGV) or call exit().  Its thread
 * then goes no further and condemns itself.
 *
 * The watchdog condemns a thread whose cycle lasts longer than the scenario allows.  The main thread of its process
 * then stops it (a signal whose handler never returns), notes the place, gives safe outputs to its devices in its
 * stead, and ends it.  Whoever was asked to join the system's thread must not: that never ends.  Drivers take no lock,
 * so that one that was interrupted can be used; and the process ends some seconds later in any case (an alarm), should
 * the thread have held a lock of the C library. */
#ifndef KHZ_STUCK_H
#define KHZ_STUCK_H

#include "khz_thread.h"

/* Once in a process, before its threads. */
void khz_stuck_prepare(void);
/* The calling thread of the system runs the loop of this one. */
void khz_stuck_mine(khz_thread *k);
/* Stop it where it is: its devices are safe and it has ended when this returns. */
void khz_stuck_take(khz_thread *k);

#endif
