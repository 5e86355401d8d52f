#pragma once
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Functions of GNU's dialect of C, in which Swift does not read headers.
extern long syscall(long number, ...);

/// How a child ends that could not be confined, and so ran nothing.
enum {
    CLinux_noLandlock = 121,
    CLinux_noSeccomp = 122,
    CLinux_noProgram = 123,
    CLinux_noChild = 124
};

/// Memory with a descriptor that is closed on exec; -1 where none can be had.
static inline int CLinux_memory(void) { return (int)syscall(SYS_memfd_create, "picture", 1u /* MFD_CLOEXEC */); }

/// Lets this process and what it becomes read and run what lies under /usr, and this program, and open no other file. Files
/// that are open stay so.
static inline int CLinux_closeFiles(const char *program) {
    struct { unsigned long long files; } all;
    struct landlock_path_beneath_attr rule;
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, 1u /* the version */);
    if (version < 1) return -1;
    // Each version of the kernel's interface knows more: 13 rights, then moving, truncating, and from the fifth on devices.
    all.files = (1ull << (version >= 5 ? 16 : version >= 3 ? 15 : version == 2 ? 14 : 13)) - 1;
    int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0);
    if (rules < 0) return -1;
    const char *paths[] = {"/usr", program, "/etc/ld.so.cache"};
    for (int i = 0; i < 3; i++) {
        int path = open(paths[i], 010000000 /* O_PATH */ | O_CLOEXEC);
        if (path < 0) continue;
        rule.parent_fd = path;
        rule.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE;
        if (i == 0) rule.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
        if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) return -1;
    }
    return (int)syscall(SYS_landlock_restrict_self, rules, 0);
}

/// Refuses this process and what it becomes the calls that reach another process, a machine or a key, and new processes.
static inline int CLinux_closeCalls(void) {
#if defined(__x86_64__)
    const unsigned machine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
    const unsigned machine = AUDIT_ARCH_AARCH64;
#else
    return -1;
#endif
    static const unsigned refused[] = {
        SYS_socket, SYS_socketpair, SYS_io_uring_setup, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
        SYS_pidfd_open, SYS_pidfd_send_signal, SYS_kill, SYS_tkill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo,
        SYS_keyctl, SYS_add_key, SYS_request_key, SYS_shmget, SYS_shmat, SYS_msgget, SYS_semget, SYS_mq_open, SYS_bpf,
        SYS_perf_event_open, SYS_userfaultfd, SYS_unshare, SYS_setns, SYS_setpgid, SYS_setsid,
#if defined(__x86_64__)
        SYS_fork, SYS_vfork,
#endif
    };
    enum { count = sizeof refused / sizeof *refused };
    struct sock_filter steps[count * 2 + 20];
    struct sock_fprog filter = {0, steps};
    const unsigned number = offsetof(struct seccomp_data, nr), first = offsetof(struct seccomp_data, args);
#define STEP(code, value, yes, no) steps[filter.len++] = (struct sock_filter)BPF_JUMP(code, value, yes, no)
#define ANSWER(value) STEP(BPF_RET | BPF_K, value, 0, 0)
#define LOAD(offset) STEP(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0)
    LOAD(offsetof(struct seccomp_data, arch));
    STEP(BPF_JMP | BPF_JEQ | BPF_K, machine, 1, 0);
    ANSWER(SECCOMP_RET_KILL_PROCESS);
    LOAD(number);
    // The calls of x32 have other numbers, from here on.
    STEP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
    ANSWER(SECCOMP_RET_ERRNO | EPERM);
    for (int i = 0; i < count; i++) {
        STEP(BPF_JMP | BPF_JEQ | BPF_K, refused[i], 0, 1);
        ANSWER(SECCOMP_RET_ERRNO | EPERM);
    }
    // Its flags are in memory, where no filter looks. The C library then asks clone.
    STEP(BPF_JMP | BPF_JEQ | BPF_K, 435 /* clone3 */, 0, 1);
    ANSWER(SECCOMP_RET_ERRNO | ENOSYS);
    // A thread is none but with CLONE_THREAD.
    STEP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3);
    LOAD(first);
    STEP(BPF_JMP | BPF_JSET | BPF_K, 0x10000, 4, 0);
    ANSWER(SECCOMP_RET_ERRNO | EPERM);
    // The limits of another process.
    STEP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prlimit64, 0, 2);
    LOAD(first);
    STEP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
    ANSWER(SECCOMP_RET_ALLOW);
    ANSWER(SECCOMP_RET_ERRNO | EPERM);
#undef LOAD
#undef ANSWER
#undef STEP
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}

/// Starts a program that computes what it reads from one descriptor, writes it to another, and reaches nothing else: no variables,
/// no other descriptors, no files but programs and libraries, no network, no other process. It ends with this thread at the latest.
///
/// @param arguments with the program's path first, ended by NULL
/// @param seconds the most time of a processor
/// @param memory the most address space, in bytes
/// @param size the most that it writes, in bytes
/// @return the process, or -1 with errno
static inline pid_t CLinux_startConfined(
    char *const *arguments, int input, int output, unsigned seconds, unsigned long memory, unsigned long size
) {
    const pid_t parent = getpid();
    const struct {
        int kind;
        unsigned long most;
    } limits[] = {
        {RLIMIT_CPU, seconds}, {RLIMIT_AS, memory}, {RLIMIT_FSIZE, size}, {RLIMIT_NOFILE, 32}, {RLIMIT_CORE, 0},
    };
    char *const nothing[] = {NULL};
    const pid_t child = fork();
    if (child != 0) return child;
    // From here to the end, nothing that takes memory or a lock: another thread may have held it.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(CLinux_noChild);
    // Not with the signals of a terminal.
    setpgid(0, 0);
    for (int number = 1; number < 32; number++) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    // Where memory runs out, the kernel ends this process and not the one that started it.
    const int score = open("/proc/self/oom_score_adj", O_WRONLY);
    if (score < 0 || write(score, "1000", 4) != 4) _exit(CLinux_noChild);
    const int trash = open("/dev/null", O_WRONLY);
    // Away from the places first, wherever they are.
    input = fcntl(input, F_DUPFD, 16);
    output = fcntl(output, F_DUPFD, 16);
    if (dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(trash, 2) < 0 || chdir("/") != 0) _exit(CLinux_noChild);
    if (syscall(436 /* close_range */, 3u, ~0u, 0u) != 0) _exit(CLinux_noChild);
    for (int i = 0; i < (int)(sizeof limits / sizeof *limits); i++) {
        const struct rlimit limit = {limits[i].most, limits[i].most};
        if (setrlimit(limits[i].kind, &limit) != 0) _exit(CLinux_noChild);
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || CLinux_closeFiles(arguments[0]) != 0) _exit(CLinux_noLandlock);
    // The descriptors of the rules would be open in the program.
    syscall(436, 3u, ~0u, 0u);
    if (CLinux_closeCalls() != 0) _exit(CLinux_noSeccomp);
    execve(arguments[0], arguments, nothing);
    _exit(CLinux_noProgram);
}

/// Waits for a child, and kills it when the time is over.
///
/// @return the status of waitpid; -1 if it was killed here
static inline int CLinux_wait(pid_t child, int milliseconds) {
    struct timespec began, now;
    clock_gettime(CLOCK_MONOTONIC, &began);
    int isOver = 1, status = 0;
    struct pollfd ended = {.fd = (int)syscall(434 /* pidfd_open */, child, 0u), .events = POLLIN};
    if (ended.fd >= 0) {
        long left = milliseconds;
        do {
            isOver = poll(&ended, 1, left > 0 ? (int)left : 0) != 1;
            clock_gettime(CLOCK_MONOTONIC, &now);
            left = milliseconds - (now.tv_sec - began.tv_sec) * 1000 - (now.tv_nsec - began.tv_nsec) / 1000000;
        } while (isOver && left > 0);
        close(ended.fd);
    }
    if (isOver) kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return isOver ? -1 : status;
}
