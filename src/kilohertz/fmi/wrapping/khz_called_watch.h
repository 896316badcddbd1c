/* What an FMU calls in its steps that may take any time: memory, files, sleeping, waiting.  Part of khz_called_fmu.h.
 *
 * Where the FMU's library calls such a function of the C library, the pointer in its own table of addresses leads here
 * first: it is counted and goes on.  Calls of other libraries, and those that the C library makes itself, are as they
 * were.  All that is watched takes whole numbers and pointers alone, which x86-64 and aarch64 pass in the same places
 * whatever the function: one shape of call stands for all; what is printed has functions of its own. */
#ifndef KHZ_CALLED_WATCH_H
#define KHZ_CALLED_WATCH_H

#include <elf.h>
#include <link.h>
#include <sys/mman.h>

/* clang-format off */
#define KHZ_CALLED_WATCHED(X) \
    X(malloc) X(calloc) X(realloc) X(free) X(aligned_alloc) X(posix_memalign) \
    X(fopen) X(fopen64) X(fclose) X(fread) X(fwrite) X(fputs) X(fputc) X(puts) X(putchar) X(fflush) X(vprintf) \
    X(vfprintf) X(open) X(open64) X(read) X(write) X(recv) X(recvfrom) X(send) X(sendto) X(system) \
    X(sleep) X(usleep) X(nanosleep) X(clock_nanosleep) X(poll) X(select) X(pthread_mutex_lock) X(pthread_cond_wait)
/* clang-format on */

#define KHZ_CALLED_NUMBER(name) KHZ_WATCH_##name,
enum { KHZ_CALLED_WATCHED(KHZ_CALLED_NUMBER) KHZ_WATCH_printf, KHZ_WATCH_fprintf, KHZ_WATCHES };

/* The counters of the FMU that this thread is in; one for all models of a program. */
__attribute__((weak)) _Thread_local uint64_t *khz_called_inside = NULL;
__attribute__((weak)) void *khz_called_originals[KHZ_WATCHES];

/* There in a rig alone: off-line nobody asks how long a call may take. */
extern const int khz_is_rig __attribute__((weak));

static void khz_called_count(int which)
{
    if (khz_called_inside != NULL) {
        khz_called_inside[which]++;
    }
}

typedef intptr_t (*khz_called_shape)(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t);

#define KHZ_CALLED_WATCH(name)                                                                                         \
    static intptr_t khz_watched_##name(intptr_t a, intptr_t b, intptr_t c, intptr_t d, intptr_t e, intptr_t f)         \
    {                                                                                                                  \
        khz_called_count(KHZ_WATCH_##name);                                                                            \
        return ((khz_called_shape)khz_called_originals[KHZ_WATCH_##name])(a, b, c, d, e, f);                           \
    }
KHZ_CALLED_WATCHED(KHZ_CALLED_WATCH)

static int khz_watched_printf(const char *format, ...)
{
    va_list arguments;
    khz_called_count(KHZ_WATCH_printf);
    va_start(arguments, format);
    const int n = vprintf(format, arguments);
    va_end(arguments);
    return n;
}

static int khz_watched_fprintf(FILE *file, const char *format, ...)
{
    va_list arguments;
    khz_called_count(KHZ_WATCH_fprintf);
    va_start(arguments, format);
    const int n = vfprintf(file, format, arguments);
    va_end(arguments);
    return n;
}

#define KHZ_CALLED_ENTRY(name) {#name, (void *)khz_watched_##name},
static const struct {
    const char *name;
    void *watched;
} khz_called_table[KHZ_WATCHES] = {
    KHZ_CALLED_WATCHED(KHZ_CALLED_ENTRY){"printf", (void *)khz_watched_printf},
    {"fprintf", (void *)khz_watched_fprintf},
};

/* Memory that FMI 2 lets an FMU ask for. */
static void *khz_called_allocate(size_t n, size_t size)
{
    khz_called_count(KHZ_WATCH_calloc);
    return calloc(n, size);
}

#if defined(__x86_64__)
enum { KHZ_CALLED_SLOT = R_X86_64_JUMP_SLOT, KHZ_CALLED_DATA = R_X86_64_GLOB_DAT };
#elif defined(__aarch64__)
enum { KHZ_CALLED_SLOT = R_AARCH64_JUMP_SLOT, KHZ_CALLED_DATA = R_AARCH64_GLOB_DAT };
#else
enum { KHZ_CALLED_SLOT = -1, KHZ_CALLED_DATA = -1 };
#endif

/* An entry of the dynamic section as an address; some loaders leave it relative to the library. */
static uintptr_t khz_called_address(const struct link_map *map, int64_t tag)
{
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == tag) {
            const uintptr_t value = (uintptr_t)d->d_un.d_ptr;
            const int is_size = tag == DT_PLTRELSZ || tag == DT_RELASZ;
            return is_size || value >= map->l_addr ? value : value + map->l_addr;
        }
    }
    return 0;
}

/* Lead one pointer of the library here, where it is for a function that is watched. */
static void khz_called_lead(const struct link_map *map, const ElfW(Rela) * entry)
{
    const int kind = (int)ELF64_R_TYPE(entry->r_info);
    const ElfW(Sym) *const symbols = (const ElfW(Sym) *)khz_called_address(map, DT_SYMTAB);
    const char *const names = (const char *)khz_called_address(map, DT_STRTAB);
    if ((kind != KHZ_CALLED_SLOT && kind != KHZ_CALLED_DATA) || symbols == NULL || names == NULL) {
        return;
    }
    const char *const name = names + symbols[ELF64_R_SYM(entry->r_info)].st_name;
    void **const pointer = (void **)(map->l_addr + entry->r_offset);
    const uintptr_t page = (uintptr_t)pointer & ~(uintptr_t)4095;
    for (int i = 0; i < KHZ_WATCHES; i++) {
        if (strcmp(khz_called_table[i].name, name) != 0) {
            continue;
        }
        void *const original = dlsym(NULL, name);
        if (original != NULL && mprotect((void *)page, 8192, PROT_READ | PROT_WRITE) == 0) {
            khz_called_originals[i] = original;
            *pointer = khz_called_table[i].watched;
        }
    }
}

static void khz_called_watch(void *library)
{
    extern int dlinfo(void *, int, void *); /* of GNU and musl; hidden by strict headers */
    const struct link_map *map = NULL;
    if (&khz_is_rig == NULL || KHZ_CALLED_SLOT < 0 || dlinfo(library, 2 /* RTLD_DI_LINKMAP */, &map) != 0) {
        return;
    }
    const int64_t tables[][2] = {{DT_JMPREL, DT_PLTRELSZ}, {DT_RELA, DT_RELASZ}};
    for (int i = 0; i < 2; i++) {
        const ElfW(Rela) *const entries = (const ElfW(Rela) *)khz_called_address(map, tables[i][0]);
        const size_t n = khz_called_address(map, tables[i][1]) / sizeof *entries;
        for (size_t j = 0; entries != NULL && j < n; j++) {
            khz_called_lead(map, &entries[j]);
        }
    }
}

/* One line for whoever reads the report: what was called in steps, and how often. */
static void khz_called_tell(const char *fmu, const uint64_t *counts)
{
    char text[1024] = "";
    size_t n = 0;
    for (int i = 0; i < KHZ_WATCHES; i++) {
        if (counts[i] > 0 && n + 64 < sizeof text) {
            const char *const comma = n > 0 ? ", " : "";
            const int written = snprintf(text + n, sizeof text - n, "%s%s (%llu)", comma, khz_called_table[i].name,
                                         (unsigned long long)counts[i]);
            n += written > 0 ? (size_t)written : 0;
        }
    }
    if (n > 0) {
        (void)fprintf(stderr, "note: the FMU `%s` calls in its steps what may take any time: %s\n", fmu, text);
    }
}

#endif
