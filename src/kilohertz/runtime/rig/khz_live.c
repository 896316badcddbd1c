#define _GNU_SOURCE
#include "khz_live.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void segment_name(char *room, size_t n, const char *name) { (void)snprintf(room, n, "/khz-%.48s", name); }

static size_t text_offset(const khz_live *live) { return (size_t)live->values + sizeof(double) * live->n_signals; }

/* 1 where the segment of that name belongs to a process that still runs. */
static int is_in_use(const char *path)
{
    const int fd = shm_open(path, O_RDONLY, 0);
    if (fd < 0) {
        return 0;
    }
    const khz_live *const live = (const khz_live *)mmap(NULL, sizeof(khz_live), PROT_READ, MAP_SHARED, fd, 0);
    struct stat about;
    const int whole = fstat(fd, &about) == 0 && about.st_size >= (off_t)sizeof(khz_live);
    (void)close(fd);
    if ((const void *)live == MAP_FAILED) {
        return 0;
    }
    const int used = whole && live->pid > 0 && (kill(live->pid, 0) == 0 || errno == EPERM);
    (void)munmap((void *)(uintptr_t)live, sizeof(khz_live));
    return used;
}

static size_t head_size(void) { return (sizeof(khz_live) + 63U) & ~(size_t)63U; }

size_t khz_live_size(const khz_live_room *room)
{
    return head_size() + sizeof(khz_lane) * room->n_lanes + sizeof(khz_fault) * room->n_faults +
           (sizeof(khz_live_signal) + sizeof(double)) * room->n_signals + room->n_text + 64;
}

khz_live *khz_live_lay_out(void *memory, const char *name, const khz_live_room *room)
{
    khz_live *const live = (khz_live *)memory;
    live->layout = khz_layout_digest(&khz_task_layout);
    live->size = khz_live_size(room);
    live->lanes = head_size();
    live->faults = live->lanes + sizeof(khz_lane) * room->n_lanes;
    live->directory = live->faults + sizeof(khz_fault) * room->n_faults;
    live->values = live->directory + sizeof(khz_live_signal) * room->n_signals;
    live->n_signals = room->n_signals;
    live->n_lanes = room->n_lanes;
    live->n_faults = room->n_faults;
    live->pid = (int32_t)getpid();
    (void)snprintf(live->name, sizeof live->name, "%s", name);
    return live;
}

khz_live *khz_live_create(const char *name, const khz_live_room *room)
{
    char path[KHZ_LIVE_NAME];
    segment_name(path, sizeof path, name);
    const size_t size = khz_live_size(room);
    if (is_in_use(path)) {
        errno = EBUSY;
        return NULL;
    }
    (void)shm_unlink(path); /* left behind by one that was killed */
    const int fd = shm_open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0) {
        return NULL;
    }
    void *memory = MAP_FAILED;
    if (ftruncate(fd, (off_t)size) == 0) {
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    const int error = errno;
    (void)close(fd);
    if (memory == MAP_FAILED) {
        (void)shm_unlink(path);
        errno = error;
        return NULL;
    }
    memset(memory, 0, size);
    return khz_live_lay_out(memory, name, room);
}

void khz_live_open(khz_live *live)
{
    atomic_thread_fence(memory_order_release);
    memcpy(live->magic, "KHZLIVE", 8);
}

void khz_live_remove(khz_live *live)
{
    char path[KHZ_LIVE_NAME];
    segment_name(path, sizeof path, live->name);
    (void)shm_unlink(path);
}

uint32_t khz_live_text(khz_live *live, size_t *used, const char *text)
{
    const size_t n = strlen(text) + 1;
    const size_t at = text_offset(live) + *used;
    if (at + n > (size_t)live->size) {
        return (uint32_t)(live->size - 1); /* the last byte is always 0: an empty text */
    }
    memcpy((char *)live + at, text, n);
    *used += n;
    return (uint32_t)at;
}
