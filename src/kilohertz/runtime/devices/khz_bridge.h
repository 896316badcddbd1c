/* A thread of normal priority for what can only block; the task asks it for work and looks whether it is done. */
#ifndef KHZ_BRIDGE_H
#define KHZ_BRIDGE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "khz_device.h"

typedef struct khz_bridge {
    pthread_t thread;
    sem_t bell;
    _Atomic int busy, stopping;
    int32_t running;
    void (*work)(void *context);
    void *context;
} khz_bridge;

/* Start the thread.  `work` should look at khz_bridge_stopping at least every 100 ms. */
khz_status khz_bridge_open(khz_bridge *b, void (*work)(void *), void *context, char *message, size_t n_message);
/* Wait for the thread's end; nothing where it was not started. */
void khz_bridge_close(khz_bridge *b);
/* Have `work` called once; nothing where it still runs.  Call from: step.  Never blocks. */
void khz_bridge_ask(khz_bridge *b);
static inline int khz_bridge_done(khz_bridge *b) { return !atomic_load_explicit(&b->busy, memory_order_acquire); }
static inline int khz_bridge_stopping(khz_bridge *b)
{
    return atomic_load_explicit(&b->stopping, memory_order_relaxed);
}
/* Sleep in `work`: until asked to stop, at most so long; whether it may go on. */
int khz_bridge_nap(khz_bridge *b, int64_t ns);

#endif
