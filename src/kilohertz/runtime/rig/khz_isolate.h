/* A filter on the system calls of a thread whose models may hold foreign code: it computes, waits and asks for memory;
 * whatever else it calls ends it where it is, as a crash does, and the report names the call.  Linux, x86-64 and
 * aarch64. */
#ifndef KHZ_ISOLATE_H
#define KHZ_ISOLATE_H

#include <stdint.h>

/* From here on the calling thread may do no more; `supervises`: it also looks after the threads of its process.  It
 * cannot be undone.  0 or errno. */
int khz_isolate(int supervises);
/* The name of a system call; empty where it has none here. */
const char *khz_isolate_name(int32_t number);

#endif
