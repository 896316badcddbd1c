/* The parts of the rig that stand alone: histogram, ring, scenario, stimulus, signals, recorder. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "check.h"
#include "khz_account.h"
#include "khz_recorder.h"
#include "khz_ring.h"
#include "khz_scenario.h"
#include "khz_signal.h"
#include "khz_stimulus.h"
#include "khz_thread.h"

static char folder[512];

static const char *in_folder(const char *name)
{
    static char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Quantiles against a sorted list: never below the true one, at most 1/32 above. */
static void histogram(void)
{
    static khz_histogram h;
    static int64_t sorted[20000];
    uint64_t state = 1;
    for (int i = 0; i < 20000; i++) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        const int64_t v = (int64_t)(state >> 33) >> (i % 24);
        int64_t at = i;
        while (at > 0 && sorted[at - 1] > v) {
            sorted[at] = sorted[at - 1];
            at--;
        }
        sorted[at] = v;
        khz_histogram_add(&h, v);
    }
    CHECK(h.min == sorted[0] && h.max == sorted[19999] && h.n == 20000);
    const double shares[] = {0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        const int64_t is = khz_histogram_quantile(&h, shares[i]);
        const int64_t should = sorted[(int)ceil(shares[i] * 20000) - 1];
        CHECK(is >= should && (double)is <= (double)should * (1 + 1.0 / 32) + 1);
    }
    static khz_histogram empty;
    CHECK(khz_histogram_quantile(&empty, 0.5) == 0);
    khz_histogram_add(&empty, -5);
    khz_histogram_add(&empty, INT64_MAX);
    CHECK(empty.min == 0 && empty.max == INT64_MAX);
}

static khz_ring shared;
enum { N = 200000 };

static void *produce(void *argument)
{
    (void)argument;
    for (uint64_t i = 0; i < N;) {
        uint64_t *const row = (uint64_t *)khz_ring_reserve(&shared);
        if (row != NULL) {
            row[0] = i;
            row[1] = ~i;
            khz_ring_commit(&shared);
            i++;
        }
    }
    return NULL;
}

/* Two threads: every row arrives once, in order, whole. */
static void ring(void)
{
    void *const memory = malloc(khz_ring_size(16, 100));
    CHECK(memory != NULL && khz_ring_size(16, 100) == 16 * 128);
    khz_ring_init(&shared, memory, 16, 100);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, produce, NULL) == 0);
    uint64_t next = 0;
    while (next < N) {
        const unsigned char *rows = NULL;
        const uint64_t n = khz_ring_peek(&shared, &rows);
        for (uint64_t i = 0; i < n; i++, next++) {
            uint64_t row[2];
            memcpy(row, rows + 16 * i, 16);
            CHECK(row[0] == next && row[1] == ~next);
        }
        khz_ring_release(&shared, n);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    for (int i = 0; i < 128; i++) {
        CHECK(khz_ring_reserve(&shared) != NULL);
        khz_ring_commit(&shared);
    }
    const uint64_t dropped = shared.dropped;
    CHECK(khz_ring_reserve(&shared) == NULL && shared.dropped == dropped + 1);
    free(memory);
}

static void scenario(void)
{
    static khz_scenario s;
    for (int i = 0; i < 1000; i++) {
        char line[64];
        (void)snprintf(line, sizeof line, "key.%d = %d", i, i);
        CHECK(khz_scenario_add(&s, line) == KHZ_OK);
    }
    CHECK(khz_scenario_add(&s, "  # a comment = 3") == KHZ_OK && khz_scenario_add(&s, "") == KHZ_OK);
    CHECK(khz_scenario_add(&s, "key.7=seventy seven ") == KHZ_OK);
    CHECK(strcmp(khz_scenario_text(&s, "key.7", ""), "seventy seven") == 0);
    CHECK(khz_scenario_integer(&s, "key.999", 0, 0, 1000) == 999);
    CHECK(khz_scenario_real(&s, "key.12", 0) == 12.0 && khz_scenario_real(&s, "none", 1.5) == 1.5);
    CHECK(s.problem[0] == '\0');
    CHECK(khz_scenario_integer(&s, "key.999", 3, 0, 10) == 3 && strstr(s.problem, "key.999") != NULL);
    CHECK(khz_scenario_add(&s, "no equals sign") != KHZ_OK);
    khz_device_config part;
    CHECK(khz_scenario_part(&s, "key", 7, &part) == KHZ_OK && part.n_settings == 0);
    free((void *)(uintptr_t)part.settings);
    CHECK(khz_scenario_add(&s, "device.1.name = one") == KHZ_OK &&
          khz_scenario_add(&s, "device.12.name = x") == KHZ_OK);
    CHECK(khz_scenario_part(&s, "device", 1, &part) == KHZ_OK && part.n_settings == 1);
    CHECK(strcmp(part.name, "one") == 0);
    free((void *)(uintptr_t)part.settings);
}

static void signals(void)
{
    struct {
        double x;
        int32_t i, b;
    } z = {1.5, 7, 1};
    const khz_signal x = {"x", "", "", KHZ_SIGNAL_REAL, 0, 0, -1, 1, 0, 0.0, 0.0, ""};
    const khz_signal i = {"i", "", "", KHZ_SIGNAL_INTEGER, 0, 8, 1, 1, 0, 0.0, 0.0, ""};
    const khz_signal b = {"b", "", "", KHZ_SIGNAL_BOOLEAN, 0, 12, -1, 1, 0, 0.0, 0.0, ""};
    CHECK(khz_signal_get(&z, &x) == -1.5 && khz_signal_get(&z, &i) == 7.0 && khz_signal_get(&z, &b) == 0.0);
    khz_signal_set(&z, &x, 2.0);
    khz_signal_set(&z, &i, 1e300);
    khz_signal_set(&z, &b, 1.0);
    CHECK(z.x == -2.0 && z.i == INT32_MAX && z.b == 0);
    khz_signal_set(&z, &i, (double)NAN);
    CHECK(z.i == 0);
}

static void stimulus(void)
{
    FILE *const f = fopen(in_folder("s.csv"), "w");
    CHECK(f != NULL && fputs("a, \"time\" ,\"b\"\r\n1,0,10\r\n2,0.5,20\n\n3,0.5,30\n4,2,40\n", f) >= 0 &&
          fclose(f) == 0);
    const char *const names[] = {"b", "a"};
    khz_stimulus s = {0};
    char message[200];
    CHECK(khz_stimulus_read(&s, in_folder("s.csv"), names, 2, message, sizeof message) == KHZ_OK && s.n_rows == 4);
    double v[2];
    khz_stimulus_at(&s, -1.0, v);
    CHECK(v[0] == 10 && v[1] == 1);
    khz_stimulus_at(&s, 0.5, v);
    CHECK(v[0] == 30 && v[1] == 3);
    khz_stimulus_at(&s, 99.0, v);
    CHECK(v[0] == 40);
    s.mode = KHZ_STIMULUS_LINEAR;
    khz_stimulus_at(&s, 1.25, v);
    CHECK(near(v[0], 35) && near(v[1], 3.5));
    khz_stimulus_at(&s, 0.25, v);
    CHECK(near(v[0], 15));
    s.mode = KHZ_STIMULUS_RECORDED; /* up to the time of a row */
    khz_stimulus_at(&s, -1.0, v);
    CHECK(v[0] == 10);
    khz_stimulus_at(&s, 0.0, v);
    CHECK(v[0] == 20);
    khz_stimulus_at(&s, 0.5, v);
    CHECK(v[0] == 40);
    khz_stimulus_at(&s, 2.0, v);
    CHECK(v[0] == 40);
    khz_stimulus_start(&s, 0.0, v);
    CHECK(v[0] == 10 && s.mode == KHZ_STIMULUS_RECORDED);
    const char *const wrong[] = {"c"};
    khz_stimulus t = {0};
    CHECK(khz_stimulus_read(&t, in_folder("s.csv"), wrong, 1, message, sizeof message) != KHZ_OK);
    CHECK(strstr(message, "`c`") != NULL);
    CHECK(khz_stimulus_read(&t, in_folder("no.csv"), wrong, 1, message, sizeof message) != KHZ_OK);
    free(s.time);
    free(s.values);
}

static long file_size(const char *path)
{
    FILE *const f = fopen(path, "rb");
    CHECK(f != NULL && fseek(f, 0, SEEK_END) == 0);
    const long n = ftell(f);
    (void)fclose(f);
    return n;
}

/* The disk is full for a while: what is in the file is whole, what waited is written later, what was refused is
 * counted. */
static void full_disk(void)
{
    static khz_recorder r;
    const khz_column columns[] = {{"time", "s", ""}, {"x", "", "a value"}};
    CHECK(khz_recorder_open(&r, in_folder("full.rec"), columns, 2, 64) == 0);
    const long head = file_size(in_folder("full.rec"));
    CHECK(head % 8 == 0);
    struct rlimit small, normal;
    CHECK(getrlimit(RLIMIT_FSIZE, &normal) == 0);
    small = normal;
    small.rlim_cur = (rlim_t)head + 16 * 10 + 5; /* ten rows and a bit */
    (void)signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK(khz_recorder_start(&r) == 0);
    for (int i = 0; i < 100; i++) {
        double *const row = (double *)khz_ring_reserve(&r.ring);
        if (row != NULL) {
            row[0] = i;
            row[1] = -i;
            khz_ring_commit(&r.ring);
        }
        const struct timespec pause = {0, 100000};
        (void)nanosleep(&pause, NULL);
    }
    while (atomic_load(&r.n_refused_writes) == 0) {
        const struct timespec pause = {0, 1000000};
        (void)nanosleep(&pause, NULL);
    }
    CHECK((file_size(in_folder("full.rec")) - head) % 16 == 0);
    CHECK(setrlimit(RLIMIT_FSIZE, &normal) == 0);
    CHECK(khz_recorder_close(&r) == 0);
    const uint64_t written = atomic_load(&r.n_written);
    CHECK(written + r.ring.dropped == 100 && r.ring.dropped > 0);
    CHECK(file_size(in_folder("full.rec")) == head + 16 * (long)written);
}

/* Messages between threads: the state at a turn, the newest where that is not there, and what it is called then. */
static void exchange(void)
{
    khz_outbox o = {.n = 2, .every = 3};
    o.slots = (_Atomic uint64_t *)calloc(1, khz_outbox_size(2));
    double now[2] = {0};
    khz_link l = {.source = &o, .now = now};
    for (int64_t stamp = 0; stamp <= 30; stamp += 3) {
        khz_outbox_put(&o, stamp, (const double[]){(double)stamp, -1.0});
    }
    CHECK(khz_link_read(&l, 30) == KHZ_EXCHANGE_EXACT && now[0] == 30.0 && l.stamp == 30);
    CHECK(khz_link_read(&l, 29) == KHZ_EXCHANGE_EXACT && now[0] == 27.0 && now[1] == -1.0);
    CHECK(khz_link_read(&l, 32) == KHZ_EXCHANGE_EXACT && now[0] == 30.0);
    CHECK(khz_link_read(&l, 33) == KHZ_EXCHANGE_LATE && now[0] == 30.0 && l.stamp == 30);
    for (int64_t stamp = 33; stamp <= 3 * KHZ_OUTBOX_SLOTS + 30; stamp += 3) {
        khz_outbox_put(&o, stamp, (const double[]){(double)stamp, -1.0});
    }
    CHECK(khz_link_read(&l, 33) == KHZ_EXCHANGE_EXACT && now[0] == 33.0);
    CHECK(khz_link_read(&l, 30) == KHZ_EXCHANGE_OLD && now[0] == 3 * KHZ_OUTBOX_SLOTS + 30);
    free((void *)o.slots);
}

static khz_outbox crossing = {.n = 8, .every = 1};

static void *send_crossing(void *argument)
{
    (void)argument;
    for (int64_t stamp = 1; stamp <= 200000; stamp++) {
        double values[8];
        for (int i = 0; i < 8; i++) {
            values[i] = (double)stamp;
        }
        khz_outbox_put(&crossing, stamp, values);
    }
    return NULL;
}

/* Under a sender that never rests no message is torn, and stamp and values belong together. */
static void exchange_under_way(void)
{
    crossing.slots = (_Atomic uint64_t *)calloc(1, khz_outbox_size(8));
    double now[8] = {0};
    khz_link l = {.source = &crossing, .now = now};
    khz_outbox_put(&crossing, 0, now);
    pthread_t sender;
    CHECK(pthread_create(&sender, NULL, send_crossing, NULL) == 0);
    int64_t turn = 0;
    while (turn < 200000) {
        turn = atomic_load(&crossing.latest);
        const int how = khz_link_read(&l, turn);
        CHECK(how != KHZ_EXCHANGE_LATE);
        for (int i = 0; i < 8; i++) {
            CHECK(how == KHZ_EXCHANGE_OLD || now[i] == (double)l.stamp);
        }
    }
    CHECK(pthread_join(sender, NULL) == 0);
    free((void *)crossing.slots);
}

static void push(khz_lane_rows *l, int64_t step, uint64_t round, double value)
{
    double *const row = (double *)khz_ring_reserve(&l->ring);
    CHECK(row != NULL);
    row[0] = (double)step;
    row[1] = (double)round;
    row[2] = value;
    khz_ring_commit(&l->ring);
}

static int take_merged(khz_ring *out, double *row)
{
    const unsigned char *rows = NULL;
    if (khz_ring_peek(out, &rows) == 0) {
        return 0;
    }
    memcpy(row, rows, 3 * sizeof(double));
    khz_ring_release(out, 1);
    return 1;
}

/* Rows of a fast and of a slower thread: merged when both are there, without rows that were lost, over a restore. */
static void merge(void)
{
    static const int32_t first[] = {1}, second[] = {2};
    khz_lane_rows lanes[2] = {{.every = 1, .n = 1, .places = first, .last = -1},
                              {.every = 3, .n = 1, .places = second, .last = -1}};
    double merged[3] = {0}, row[3];
    khz_merge m = {
        .lanes = lanes, .n_lanes = 2, .n_columns = 3, .row = merged, .record_every = 1, .period_ns = 1000000000};
    khz_ring out;
    void *const memory[] = {malloc(khz_ring_size(24, 16)), malloc(khz_ring_size(24, 16)),
                            malloc(khz_ring_size(24, 16))};
    khz_ring_init(&lanes[0].ring, memory[0], 24, 16);
    khz_ring_init(&lanes[1].ring, memory[1], 24, 16);
    khz_ring_init(&out, memory[2], 24, 16);
    push(&lanes[0], 0, 0, 10);
    push(&lanes[0], 1, 0, 11);
    khz_merge_rows(&m, &out);
    CHECK(!take_merged(&out, row)); /* the other has not come yet */
    push(&lanes[1], 0, 0, 20);
    push(&lanes[1], 1, 0, 21); /* with the inputs of its next period */
    push(&lanes[0], 3, 0, 13); /* 2 was lost */
    push(&lanes[1], 3, 0, 23);
    khz_merge_rows(&m, &out);
    CHECK(take_merged(&out, row) && row[0] == 0 && row[1] == 10 && row[2] == 20);
    CHECK(take_merged(&out, row) && row[0] == 1 && row[1] == 11 && row[2] == 21);
    CHECK(take_merged(&out, row) && row[0] == 3 && row[1] == 13 && row[2] == 23);
    push(&lanes[0], 0, 1, 30); /* back to the beginning */
    khz_merge_rows(&m, &out);
    CHECK(!take_merged(&out, row));
    push(&lanes[1], 0, 1, 40);
    khz_merge_rows(&m, &out);
    CHECK(take_merged(&out, row) && row[0] == 0 && row[1] == 30 && row[2] == 40);
    atomic_store(&lanes[1].ended, 1); /* its last values stand */
    push(&lanes[0], 1, 1, 31);
    khz_merge_rows(&m, &out);
    CHECK(take_merged(&out, row) && row[0] == 1 && row[1] == 31 && row[2] == 40);
    atomic_store(&lanes[1].ended, 0);
    for (int i = 2; i < 16; i++) { /* nearly full: no longer waited for */
        push(&lanes[0], i, 1, 30 + i);
    }
    khz_merge_rows(&m, &out);
    CHECK(take_merged(&out, row) && row[0] == 2 && row[1] == 32 && row[2] == 40);
    for (int i = 0; i < 3; i++) {
        free(memory[i]);
    }
}

/* Releases at a phase of the clock: the first such instant, never before the one asked for. */
static void phases(void)
{
    CHECK(khz_thread_aligned(12345, 1000, -1) == 12345);
    CHECK(khz_thread_aligned(12345, 1000, 0) == 13000 && khz_thread_aligned(13000, 1000, 0) == 13000);
    CHECK(khz_thread_aligned(12345, 1000, 500) == 12500 && khz_thread_aligned(12501, 1000, 500) == 13500);
    CHECK(khz_thread_aligned(12345, 1000, 3500) == 12500 && khz_thread_aligned(2, 1000, 7) == 7);
}

int main(int argc, char **argv)
{
    (void)snprintf(folder, sizeof folder, "%s", argc > 1 ? argv[1] : ".");
    histogram();
    ring();
    scenario();
    signals();
    stimulus();
    full_disk();
    exchange();
    exchange_under_way();
    merge();
    phases();
    return 0;
}
