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

// A function of GNU's dialect of C. Swift does not read headers in that dialect.
extern long syscall(long number, ...);

/// The exit codes of a child that could not be confined, and so ran no program.
enum {
    CLinux_noLandlock = 121,
    CLinux_noSeccomp = 122,
    CLinux_noProgram = 123,
    CLinux_noChild = 124
};

/// Memory with a descriptor that is closed on exec; -1 if the system has none.
static inline int CLinux_memory(void) { return (int)syscall(SYS_memfd_create, "picture", 1u /* MFD_CLOEXEC */); }

/// Confines the files of this process and of the program that it becomes, by Landlock.
///
/// They can read and run the files under /usr and `program`, and open no other file. Files that are open stay open.
/// From Linux 6.12 on, they also send no signal to other processes.
static inline int CLinux_closeFiles(const char *program) {
    struct { unsigned long long files, ports, scopes; } all = {0, 0, 0};
    struct landlock_path_beneath_attr rule;
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, 1u /* the version */);
    if (version < 1) return -1;
    // Each version of the kernel's interface has more rights: the first has 13. The second adds moving files, the third
    // truncating them, and the fifth devices.
    all.files = (1ull << (version >= 5 ? 16 : version >= 3 ? 15 : version == 2 ? 14 : 13)) - 1;
    // The scopes: sockets without a file, and signals.
    if (version >= 6) all.scopes = 3;
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

/// Refuses system calls of this process and of the program that it becomes, by seccomp.
///
/// These are the calls that reach another process, a machine, a key, or a file that is not open, and those that make
/// new processes.
static inline int CLinux_closeCalls(void) {
#if defined(__x86_64__)
    const unsigned machine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
    const unsigned machine = AUDIT_ARCH_AARCH64;
#else
    return -1;
#endif
    static const unsigned refused[] = {
        SYS_socket, SYS_socketpair, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_move_pages,
        SYS_migrate_pages, SYS_kill, SYS_tkill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_bpf,
        SYS_perf_event_open, SYS_userfaultfd, SYS_unshare, SYS_setns, SYS_setpgid, SYS_setsid,
        // Keys, and objects that the processes of a user share.
        SYS_keyctl, SYS_add_key, SYS_request_key, SYS_shmget, SYS_shmat, SYS_shmctl, SYS_msgget, SYS_msgsnd, SYS_msgrcv,
        SYS_msgctl, SYS_semget, SYS_semop, SYS_semtimedop, SYS_semctl, SYS_mq_open, SYS_mq_unlink,
        // The scheduling of another process.
        SYS_sched_setparam, SYS_sched_setscheduler, SYS_sched_setattr, SYS_sched_setaffinity, SYS_setpriority,
        SYS_ioprio_set,
        // Changes of the user: a process with another user would outlive its parent.
        SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setfsuid, SYS_setfsgid,
        SYS_setgroups, SYS_capset,
        // Changes to files that Landlock does not prevent.
        SYS_truncate, SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_utimensat, SYS_setxattr, SYS_lsetxattr,
        SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr,
#if defined(__x86_64__)
        SYS_fork, SYS_vfork, SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat,
#endif
    };
    // Calls that are refused by an argument: if `holds` is 1, when the test holds, and otherwise when it does not.
    static const struct {
        unsigned number, argument;
        unsigned short test;
        unsigned value;
        int holds;
    } bounded[] = {
        // A clone without CLONE_THREAD is no thread but a process.
        {SYS_clone, 0, BPF_JSET, 0x10000, 0},
        // A process ID other than 0 would change the limits of another process.
        {SYS_prlimit64, 0, BPF_JEQ, 0, 0},
        // Allows only the name of a thread. Other options could cancel the end with the parent.
        {SYS_prctl, 0, BPF_JEQ, PR_SET_NAME, 0},
        // Commands above F_SETFL lock files, or set the receiver of a file's signals.
        {SYS_fcntl, 1, BPF_JGT, F_SETFL, 1},
        // Landlock before Linux 6.2 does not check truncation.
        {SYS_openat, 2, BPF_JSET, O_TRUNC, 1},
#if defined(__x86_64__)
        {SYS_open, 1, BPF_JSET, O_TRUNC, 1},
#endif
    };
    enum { all = sizeof refused / sizeof *refused, some = sizeof bounded / sizeof *bounded };
    struct sock_filter steps[all * 2 + some * 5 + 9];
    struct sock_fprog filter = {0, steps};
#define STEP(code, value, yes, no) steps[filter.len++] = (struct sock_filter)BPF_JUMP(code, value, yes, no)
#define ANSWER(value) STEP(BPF_RET | BPF_K, value, 0, 0)
#define LOAD(offset) STEP(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0)
    LOAD(offsetof(struct seccomp_data, arch));
    STEP(BPF_JMP | BPF_JEQ | BPF_K, machine, 1, 0);
    ANSWER(SECCOMP_RET_KILL_PROCESS);
    LOAD(offsetof(struct seccomp_data, nr));
    // Calls of Linux 5.1 and later, and those of x32. The C library works without them: if there is no clone3, it calls
    // clone.
    STEP(BPF_JMP | BPF_JGE | BPF_K, 424, 0, 1);
    ANSWER(SECCOMP_RET_ERRNO | ENOSYS);
    // ioctl controls terminals, and sets the receiver of a file's signals.
    STEP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 1);
    ANSWER(SECCOMP_RET_ERRNO | ENOTTY);
    for (int i = 0; i < all; i++) {
        STEP(BPF_JMP | BPF_JEQ | BPF_K, refused[i], 0, 1);
        ANSWER(SECCOMP_RET_ERRNO | EPERM);
    }
    for (int i = 0; i < some; i++) {
        STEP(BPF_JMP | BPF_JEQ | BPF_K, bounded[i].number, 0, 4);
        // Load the lower half of the argument. It comes first on both machines, and the kernel reads no more of these.
        LOAD(offsetof(struct seccomp_data, args) + 8 * bounded[i].argument);
        STEP(BPF_JMP | bounded[i].test | BPF_K, bounded[i].value, !bounded[i].holds, bounded[i].holds);
        ANSWER(SECCOMP_RET_ERRNO | EPERM);
        ANSWER(SECCOMP_RET_ALLOW);
    }
    ANSWER(SECCOMP_RET_ALLOW);
#undef LOAD
#undef ANSWER
#undef STEP
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}

/// Starts a program that reads from one descriptor, writes its result to another, and reaches nothing else.
///
/// It gets no variables, no other descriptors, no files except programs and libraries, no network and no other process.
/// It ends with this thread at the latest.
///
/// @param arguments with the program's path first, ended by NULL
/// @param seconds the most processor time
/// @param memory the most address space, in bytes
/// @param size the most output, in bytes
/// @return the process, or -1 with errno
static inline pid_t CLinux_startConfined(
    char *const *arguments, int input, int output, unsigned seconds, unsigned long memory, unsigned long size
) {
    const pid_t parent = getpid();
    const struct {
        int kind;
        struct rlimit limit;
    } limits[] = {
        // The soft limit of RLIMIT_CPU ends it by SIGXCPU. So the kernel's SIGKILL means only a lack of memory.
        {RLIMIT_CPU, {seconds, seconds + 1}}, {RLIMIT_AS, {memory, memory}}, {RLIMIT_FSIZE, {size, size}},
        {RLIMIT_NOFILE, {32, 32}}, {RLIMIT_CORE, {0, 0}},
    };
    char *const nothing[] = {NULL};
    const pid_t child = fork();
    if (child != 0) return child;
    // From here on, call nothing that allocates or takes a lock, since another thread may have held one at the fork.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(CLinux_noChild);
    // Leave the process group, so that a terminal's signals do not reach the child.
    setpgid(0, 0);
    for (int number = 1; number < 32; number++) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    // If memory runs out, the kernel ends this process and not its parent.
    const int score = open("/proc/self/oom_score_adj", O_WRONLY);
    if (score < 0 || write(score, "1000", 4) != 4) _exit(CLinux_noChild);
    const int trash = open("/dev/null", O_WRONLY);
    // First move both descriptors away from 0, 1 and 2.
    input = fcntl(input, F_DUPFD, 16);
    output = fcntl(output, F_DUPFD, 16);
    if (dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(trash, 2) < 0 || chdir("/") != 0) _exit(CLinux_noChild);
    if (syscall(436 /* close_range */, 3u, ~0u, 0u) != 0) _exit(CLinux_noChild);
    for (int i = 0; i < (int)(sizeof limits / sizeof *limits); i++) {
        if (setrlimit(limits[i].kind, &limits[i].limit) != 0) _exit(CLinux_noChild);
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || CLinux_closeFiles(arguments[0]) != 0) _exit(CLinux_noLandlock);
    // Close the descriptors of the rules, which the program would inherit.
    syscall(436, 3u, ~0u, 0u);
    if (CLinux_closeCalls() != 0) _exit(CLinux_noSeccomp);
    execve(arguments[0], arguments, nothing);
    _exit(CLinux_noProgram);
}

/// The results of `CLinux_wait` for a child that it killed.
enum {
    CLinux_tooSlow = -1,
    /// There was no descriptor to wait with.
    CLinux_notWatched = -2
};

/// Waits for a child, and kills it when its time is over.
///
/// @return the status from waitpid, or the reason for the kill
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
    return !isOver ? status : ended.fd < 0 ? CLinux_notWatched : CLinux_tooSlow;
}
