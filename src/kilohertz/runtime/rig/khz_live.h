/* The live segment: POSIX shared memory with every signal, the accounting and a mailbox for commands.
 *
 * Anybody may attach and detach at will; the rig only ever stores into the segment, reads one mailbox and whether
 * somebody looks, so that no reader can hold it up.  Who reads values says so (`attended_ns`, and once another
 * `n_asked`), again within KHZ_LIVE_ATTENTION_NS, and waits until each lane has completed a frame (`n_frames`): without
 * attention nothing is copied, and what nobody looks at is not computed.  A pause and the end of a run copy all. Values
 * are copied between steps, at most KHZ_LIVE_SLICE per cycle; the `frame` of a real-time thread's lane is odd while it
 * does that (a reader that saw it odd or changed reads again).  Readers know the layout
 * by this text (realtime/live.py); `layout` tells them whether it is the one that the rig was compiled with. */
#ifndef KHZ_LIVE_H
#define KHZ_LIVE_H

#include <stdatomic.h>

#include "khz_account.h"
#include "khz_injection.h"
#include "khz_layout.h"

extern const khz_layout khz_task_layout;

enum { KHZ_LIVE_SLICE = 256, KHZ_LIVE_NAME = 64, KHZ_LIVE_TEXT = 256 };
enum { KHZ_LIVE_ATTENTION_NS = 2000000000 };
/* Faults that a thread of a running rig can be given, and the periods that a delay among them has at most. */
enum { KHZ_LIVE_FAULTS = 16, KHZ_LIVE_LINE = 4096 };

enum { KHZ_STATE_STARTING = 0, KHZ_STATE_RUNNING = 1, KHZ_STATE_PAUSED = 2, KHZ_STATE_ENDED = 3 };

enum {
    KHZ_COMMAND_NONE = 0,
    KHZ_COMMAND_SET = 1, /* signal `index` := `value` */
    KHZ_COMMAND_PAUSE = 2,
    KHZ_COMMAND_RESUME = 3,
    KHZ_COMMAND_STEP = 4, /* `index` steps, then pause */
    KHZ_COMMAND_SNAPSHOT = 5,
    KHZ_COMMAND_RESTORE = 6,
    KHZ_COMMAND_STOP = 7,
    KHZ_COMMAND_PROFILE = 8, /* mode `index`: KHZ_PROFILE_* */
    KHZ_COMMAND_FAULT = 9,   /* plant `fault` */
    KHZ_COMMAND_RELEASE = 10 /* end fault `index` of the segment; -1: all */
};
enum {
    KHZ_REPLY_OK = 0,
    KHZ_REPLY_UNKNOWN = 1,
    KHZ_REPLY_NOT_TUNABLE = 2,
    KHZ_REPLY_NO_SNAPSHOT = 3,
    KHZ_REPLY_NOT_FINITE = 4,
    KHZ_REPLY_REFUSED = 5,
    KHZ_REPLY_HIDDEN = 6,
    KHZ_REPLY_DRIVEN = 7,
    KHZ_REPLY_NO_FAULT = 8,
    KHZ_REPLY_UNREAD = 9,
    KHZ_REPLY_ELSEWHERE = 10,
    KHZ_REPLY_TOO_LONG = 11,
    KHZ_REPLY_FULL = 12,
    KHZ_REPLY_RANGE = 13
};

/* One command at a time: the writer (who holds the lock of the segment's file) fills it, then sets `asked`; the rig
 * answers with `reply` and sets `answered` to the same number. */
typedef struct khz_mailbox {
    _Atomic uint64_t asked;
    _Atomic uint64_t answered;
    int32_t command, index;
    double value;
    int32_t reply, reserved;
    khz_fault_settings fault;
} khz_mailbox;

/* A signal as readers see it: texts are offsets into the segment. */
typedef struct khz_live_signal {
    uint32_t name, unit, description, literals;
    int32_t task; /* it belongs to */
    int32_t type, causality, tunable;
    int32_t lane; /* of the thread that steps it */
    int32_t reserved;
    double least, most; /* that it may be set to */
} khz_live_signal;

/* One real-time thread. */
typedef struct khz_lane {
    char name[KHZ_LIVE_NAME];
    int64_t period_ns;
    int32_t pid, reserved;
    _Atomic uint32_t frame, ended;
    _Atomic uint64_t n_frames;    /* complete ones */
    _Atomic int64_t time_ns;      /* of the model, since its start */
    _Atomic int64_t heartbeat_ns; /* CLOCK_MONOTONIC at the end of the last cycle */
    khz_account account;
    char steps[KHZ_LIVE_TEXT]; /* which ones its tasks have: khz_stepper_word */
} khz_lane;

typedef struct khz_live {
    char magic[8];   /* "KHZLIVE" */
    uint32_t layout; /* khz_layout_digest(&khz_task_layout) */
    int32_t pid;
    uint64_t size;
    uint64_t directory, values; /* offsets: khz_live_signal [n_signals], double [n_signals] */
    uint64_t lanes, faults;     /* offsets: khz_lane [n_lanes], khz_fault [n_faults] */
    uint32_t n_signals, n_lanes, n_faults;
    uint32_t n_planted; /* of the faults: by the scenario; they come first */
    char name[KHZ_LIVE_NAME];
    int64_t period_ns;
    int64_t started_ns; /* CLOCK_REALTIME at the first cycle */
    _Atomic uint32_t state;
    _Atomic uint32_t n_asked;    /* changed by who begins to read values */
    _Atomic int64_t attended_ns; /* CLOCK_MONOTONIC at which somebody last read values */
    double start;                /* model time at which the run began */
    char ending[KHZ_LIVE_TEXT];  /* why it ended */
    khz_mailbox mailbox;
} khz_live;

/* What a segment has room for. */
typedef struct khz_live_room {
    uint32_t n_signals, n_lanes, n_faults;
    size_t n_text;
} khz_live_room;

/* Everything is in place: readers may attach. */
void khz_live_open(khz_live *live);
/* What a segment for so much has to hold in bytes.  Texts: all names, units, descriptions. */
size_t khz_live_size(const khz_live_room *room);
/* Fill in the head of that much zeroed memory. */
khz_live *khz_live_lay_out(void *memory, const char *name, const khz_live_room *room);
/* Make the segment /dev/shm/khz-NAME; NULL with errno where that fails. */
khz_live *khz_live_create(const char *name, const khz_live_room *room);
/* The name goes away; those attached keep what they have. */
void khz_live_remove(khz_live *live);
static inline khz_live_signal *khz_live_directory(khz_live *live)
{
    return (khz_live_signal *)(void *)((char *)live + live->directory);
}
static inline khz_lane *khz_live_lane(khz_live *live, int32_t i)
{
    return (khz_lane *)(void *)((char *)live + live->lanes) + i;
}
static inline khz_fault *khz_live_faults(khz_live *live) { return (khz_fault *)(void *)((char *)live + live->faults); }
static inline double *khz_live_values(khz_live *live) { return (double *)(void *)((char *)live + live->values); }
/* Add a text behind the values; its offset.  `*used` counts the bytes handed out. */
uint32_t khz_live_text(khz_live *live, size_t *used, const char *text);

#endif
