/* A channel of a segment under a writer and a reader at full speed: no message is torn, none is older than one seen. */
#include <pthread.h>

#include "check.h"
#include "khz_segment.h"

enum { N = 37, MESSAGES = 50000 };

static _Alignas(64) unsigned char memory[4096];
static _Atomic int done;

static void *write_all(void *argument)
{
    double values[N];
    for (uint64_t s = 1; s <= MESSAGES; s++) {
        const khz_message m = {.session = (uint32_t)s, .echo = ~(uint32_t)s, .sequence = s, .time_ns = -(int64_t)s};
        for (int i = 0; i < N; i++) {
            values[i] = (double)s + i;
        }
        khz_channel_write(argument, N, &m, values);
    }
    atomic_store(&done, 1);
    return NULL;
}

int main(void)
{
    khz_channel *c = (khz_channel *)(void *)memory;
    pthread_t writer;
    khz_message m;
    double values[N];
    CHECK(khz_channel_size(N) <= sizeof memory && !khz_channel_read(c, N, &m, values));
    CHECK(pthread_create(&writer, NULL, write_all, c) == 0);
    uint64_t last = 0, n_read = 0;
    while (last < MESSAGES) {
        const int finished = atomic_load(&done);
        if (!khz_channel_read(c, N, &m, values)) {
            CHECK(!finished);
            continue;
        }
        CHECK(m.sequence >= last && m.sequence <= MESSAGES);
        CHECK(m.session == (uint32_t)m.sequence && m.echo == ~m.session && m.time_ns == -(int64_t)m.sequence);
        for (int i = 0; i < N; i++) {
            CHECK(values[i] == (double)m.sequence + i);
        }
        last = m.sequence;
        n_read++;
    }
    CHECK(pthread_join(writer, NULL) == 0 && n_read > 0);
    return 0;
}
