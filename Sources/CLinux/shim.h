#pragma once
#include <fcntl.h>
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

/// The wake-up descriptor of an event loop. It never blocks, and is closed on exec.
static inline int CLinux_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }
/// A descriptor that is readable from this instant of the monotonic clock on; -1 if the system has none.
static inline int CLinux_timerfd(unsigned long nanoseconds) {
    struct itimerspec at = {.it_value = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000}};
    int descriptor = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (descriptor >= 0) timerfd_settime(descriptor, TFD_TIMER_ABSTIME, &at, 0);
    return descriptor;
}
/// Accepts a connection that never blocks and is closed on exec, in one call.
///
/// glibc declares `accept4` only in GNU's dialect of C. Its flags are those of `open`.
static inline int CLinux_accept(int listener, void *address, unsigned *length) {
    extern int accept4(int, void *, unsigned *, int);
    return accept4(listener, address, length, O_NONBLOCK | O_CLOEXEC);
}
static inline int CLinux_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }
/// `operation` is `EPOLL_CTL_ADD`, `_MOD` or `_DEL`; `token` comes back from `CLinux_epoll_wait`.
static inline int CLinux_epoll_control(int set, int operation, int descriptor, unsigned events, unsigned long token) {
    struct epoll_event event = {.events = events, .data = {.u64 = token}};
    return epoll_ctl(set, operation, descriptor, &event);
}
static inline unsigned long CLinux_epoll_token(const struct epoll_event *event) { return event->data.u64; }
static inline unsigned CLinux_epoll_events(const struct epoll_event *event) { return event->events; }
