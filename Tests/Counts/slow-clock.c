// Loaded before the programs that scripts/count-work counts. From an instant on, the monotonic clock of a process stands nearly
// still, so that heartbeats and polls do not blur the cost of a request. CLOCK_FILE is a file of 8 bytes with that instant in
// nanoseconds, 0 until then. The kernel's timers keep the true time, and so does libdispatch, which sets them by the clock.
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

enum { slowness = 1000000 };
static const long second = 1000000000;
static volatile long *from;
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

__attribute__((constructor)) static void open_clock_file(void) {
    const char *path = getenv("CLOCK_FILE");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *page = file < 0 ? MAP_FAILED : mmap(0, sizeof *from, PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) from = page;
    dl_iterate_phdr(find_dispatch, 0);
}

// In place of libc's `syscall`, so that a call is counted for the function that makes it.
static long system_call(long number, long first, long second, long third) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(first), "S"(second), "d"(third) : "rcx", "r11", "memory");
    return result;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = system_call(SYS_clock_gettime, clock, (long)time, 0) ? -1 : 0;
    uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    if (clock == CLOCK_MONOTONIC && from && *from && !(caller >= dispatch_start && caller < dispatch_end)) {
        long now = time->tv_sec * second + time->tv_nsec;
        if (now > *from) now = *from + (now - *from) / slowness;
        time->tv_sec = now / second;
        time->tv_nsec = now % second;
    }
    return result;
}

int poll(struct pollfd *files, nfds_t count, int timeout) {
    if (timeout > 0 && from && *from) timeout = timeout > INT_MAX / slowness ? INT_MAX : timeout * slowness;
    long result = system_call(SYS_poll, (long)files, count, timeout);
    return result < 0 ? -1 : result;
}

// Valgrind 3.19 writes to the mask, and libdispatch's is in memory that cannot be written.
int sigsuspend(const sigset_t *mask) {
    sigset_t own = *mask;
    system_call(SYS_rt_sigsuspend, (long)&own, 8, 0);
    return -1;
}
