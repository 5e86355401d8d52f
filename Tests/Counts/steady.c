// Loaded before the programs that scripts/count-work counts, so that two runs count the same. What it does itself is not counted.
//
// - The monotonic clock stops at an instant, and with it heartbeats and polls. CLOCK_FILE is a file of 8 bytes with that instant
//   in nanoseconds, 0 until then. The kernel's timers keep the true time, and so does libdispatch, which sets them by the clock.
// - Small memory is never larger than it must be. Otherwise an array grows less often where the allocator has no better chunk.
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

static const long second = 1000000000;
static volatile long *stop;
static uintptr_t dispatch_start, dispatch_end;

static int find_dispatch(struct dl_phdr_info *library, size_t size, void *context) {
    if (!strstr(library->dlpi_name, "/libdispatch.so")) return 0;
    dispatch_start = library->dlpi_addr;
    for (int each = 0; each < library->dlpi_phnum; each++) {
        uintptr_t end = library->dlpi_addr + library->dlpi_phdr[each].p_vaddr + library->dlpi_phdr[each].p_memsz;
        if (library->dlpi_phdr[each].p_type == PT_LOAD && end > dispatch_end) dispatch_end = end;
    }
    return 1;
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("CLOCK_FILE");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *page = file < 0 ? MAP_FAILED : mmap(0, sizeof *stop, PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) stop = page;
    dl_iterate_phdr(find_dispatch, 0);
}

static int is_stopped(void) { return stop && *stop; }

// In place of libc's `syscall`, so that a call is not counted as one of libc's. For x86-64 alone.
static long system_call(long number, long first, long second, long third) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(first), "S"(second), "d"(third) : "rcx", "r11", "memory");
    return result;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (system_call(SYS_clock_gettime, clock, (long)time, 0)) return -1;
    uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    int is_dispatch = caller >= dispatch_start && caller < dispatch_end;
    long instant = stop ? *stop : 0;
    if (clock == CLOCK_MONOTONIC && instant && !is_dispatch && time->tv_sec * second + time->tv_nsec > instant) {
        time->tv_sec = instant / second;
        time->tv_nsec = instant % second;
    }
    return 0;
}

extern int __poll(struct pollfd *files, nfds_t count, int timeout);
int poll(struct pollfd *files, nfds_t count, int timeout) {
    return __poll(files, count, timeout > 0 && is_stopped() ? -1 : timeout);
}

int epoll_wait(int set, struct epoll_event *events, int most, int timeout) {
    return epoll_pwait(set, events, most, timeout > 0 && is_stopped() ? -1 : timeout, 0);
}

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *memory);
// glibc keeps the size of a chunk before it, and three flags in its low bits; a chunk has 8 bytes more than can be used.
static int is_larger(const void *memory, size_t size) {
    size_t chunk = ((const size_t *)memory)[-1], least = (size + 8 + 15) & ~(size_t)15;
    return !(chunk & 2) && (chunk & ~(size_t)7) > (least < 32 ? 32 : least);
}

void *malloc(size_t size) {
    void *memory = __libc_malloc(size);
    // A thread keeps freed chunks up to this size by their size, so another attempt soon finds the right one each time.
    if (memory && size <= 1032 && is_larger(memory, size)) {
        void *other = malloc(size);
        __libc_free(memory);
        return other;
    }
    return memory;
}

// Valgrind 3.19 writes to the mask, and libdispatch's is in memory that cannot be written.
int sigsuspend(const sigset_t *mask) {
    sigset_t own = *mask;
    system_call(SYS_rt_sigsuspend, (long)&own, 8, 0);
    return -1;
}
