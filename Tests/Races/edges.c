// A part of every program that scripts/race-test builds with ThreadSanitizer. The sanitizer sees our code, but not Swift's libraries,
// in which one thread waits for another one. It would report a race for what happens before and after such a wait.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

extern __attribute__((swiftcall)) void *swift_task_getCurrent(void);
#define REAL(type, name) ((type)dlsym(RTLD_NEXT, name))

// Tests start programs with an environment of their own, so the options do not stand in TSAN_OPTIONS. REPORTS is the path of the
// reports, to which the sanitizer adds the process. Without the last option each process waits at its end for a second.
const char *__tsan_default_options(void) { return "log_path=" REPORTS " exitcode=0 atexit_sleep_ms=0"; }

extern void __tsan_acquire(void *), __tsan_release(void *);

// A Mutex is inlined into our code, and the library takes and gives it only if two threads want it at once. The mutex is the
// context of the call, as in each mutating method.
#define MUTEX __attribute__((swift_context)) void *mutex
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
typedef __attribute__((swiftcall)) void (*locking)(uint32_t, MUTEX);
typedef __attribute__((swiftcall)) void (*unlocking)(MUTEX);
__attribute__((swiftcall)) void lock(uint32_t, MUTEX) __asm__(LOCK);
__attribute__((swiftcall)) void unlock(MUTEX) __asm__(UNLOCK);

__attribute__((swiftcall)) void lock(uint32_t thread, MUTEX) {
    REAL(locking, LOCK)(thread, mutex);
    __tsan_acquire(mutex);
}

__attribute__((swiftcall)) void unlock(MUTEX) {
    __tsan_release(mutex);
    REAL(unlocking, UNLOCK)(mutex);
}

// A continuation that is resumed before its task waits for it: the task goes on at once, past the queue of its executor. So
// whoever resumes a task from another thread lets it wait first.
typedef __attribute__((swiftcall)) void *(*beginning)(void *, size_t);
typedef __attribute__((swiftcall)) void (*resuming)(void *);
typedef __attribute__((swiftcall)) void (*failing)(void *, void *);
typedef __attribute__((swiftasynccall)) void (*awaiting)(void *);

// The newest continuation of each task. One that another task has pushed out is not waited for.
struct continuation { _Atomic(void *) task, context; _Atomic(pthread_t) thread; };
static struct continuation continuations[1 << 16];
static struct continuation *of(void *task) { return &continuations[((uintptr_t)task >> 4) % (1 << 16)]; }

// Reads the runtime's ContinuationAsyncContext. Its fourth word says whether its task waits (1) or was resumed (2).
static int is_pending(void *context) { return ((_Atomic(size_t) *)context)[3] == 0; }

__attribute__((swiftcall)) void *swift_continuation_init(void *context, size_t flags) {
    void *task = REAL(beginning, "swift_continuation_init")(context, flags);
    struct continuation *continuation = of(task);
    continuation->task = task;
    continuation->context = context;
    continuation->thread = pthread_self();
    return task;
}

static void let_wait(void *task) {
    struct continuation *continuation = of(task);
    __tsan_release(task);
    if (continuation->task != task || pthread_equal(continuation->thread, pthread_self())) return;
    // Seconds at most: on a busy machine the task's thread may have to wait for a processor, too.
    for (int turn = 0; turn < 50000 && is_pending(continuation->context); turn++) {
        if (turn < 100) sched_yield();
        else usleep(100);
    }
}

__attribute__((swiftcall)) void swift_continuation_resume(void *task) {
    let_wait(task);
    REAL(resuming, "swift_continuation_resume")(task);
}

__attribute__((swiftcall)) void swift_continuation_throwingResume(void *task) {
    let_wait(task);
    REAL(resuming, "swift_continuation_throwingResume")(task);
}

__attribute__((swiftcall)) void swift_continuation_throwingResumeWithError(void *task, void *error) {
    let_wait(task);
    REAL(failing, "swift_continuation_throwingResumeWithError")(task, error);
}

__attribute__((swiftasynccall)) void swift_continuation_await(void *context) {
    __tsan_acquire(swift_task_getCurrent());
    __attribute__((musttail)) return REAL(awaiting, "swift_continuation_await")(context);
}
