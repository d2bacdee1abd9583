/* What the system may do to a program, done on purpose: loaded before the C library (LD_PRELOAD), it counts the calls that
 * touch files and the clock, and lets one of them fail.
 *
 *   WEIR_FAULT     short, eintr, clock: what a program must not notice; enospc, eio: errors; kill, int, term: signals
 *   kill: what was written and not brought to the disk is lost, as after a loss of power
 *   noreplace, norename: every renameat2 (and linkat) fails, also as a bare call of the system: with EINVAL, as on a file
 *   system that does not know it; with EIO
 *   storm: many reads and writes short or interrupted, and one error or kill; WEIR_FAULT_AT is the seed
 *   WEIR_FAULT_AT  the number of the call, from 1; 0 for every one (short, eintr and clock)
 *   WEIR_FAULT_COUNT  a file for the number of calls, written at the end
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum fault { NONE, SHORT, EINTR_, CLOCK, ENOSPC_, EIO_, KILL, INT, TERM, STORM, NOREPLACE, NORENAME };

static enum fault fault;
static long at;
static atomic_long calls;
static atomic_long ticks;

/* Descriptors of files with data that is not on the disk; some are kept open behind the program's back. */
enum { MOST_FILES = 1024, KEPT_FROM = 512 };
static atomic_bool unsynced[MOST_FILES];

static void is_synced(int fd, bool synced)
{
    struct stat found;
    if (fd > STDERR_FILENO && fd < MOST_FILES && (synced || (!fstat(fd, &found) && S_ISREG(found.st_mode)))) {
        atomic_store(&unsynced[fd], !synced);
    }
}

/* The end of the program and of the machine's power. */
static void killed(void)
{
    for (int fd = 0; fd < MOST_FILES; fd++) {
        if (atomic_load(&unsynced[fd])) {
            syscall(SYS_ftruncate, fd, 0L);
        }
    }
    syscall(SYS_kill, getpid(), SIGKILL);
}

/* Lets the system refuse a call, whoever makes it. */
static void refuse(long call, int error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

__attribute__((constructor)) static void begin(void)
{
    static const char *const names[] = {"", "short", "eintr", "clock", "enospc", "eio", "kill", "int", "term", "storm",
                                        "noreplace", "norename"};
    const char *name = getenv("WEIR_FAULT"), *number = getenv("WEIR_FAULT_AT");
    for (int i = 1; name && i < (int)(sizeof names / sizeof *names); i++) {
        if (!strcmp(name, names[i])) {
            fault = (enum fault)i;
        }
    }
    at = number ? atol(number) : -1;
    if (fault == NOREPLACE || fault == NORENAME) {
        refuse(SYS_renameat2, fault == NORENAME ? EIO : EINVAL);
    }
    if (fault == NORENAME) {
        refuse(SYS_linkat, EIO);
    }
}

__attribute__((destructor)) static void end(void)
{
    const char *file = getenv("WEIR_FAULT_COUNT");
    char text[32];
    if (file) {
        int length = snprintf(text, sizeof text, "%ld", atomic_load(&calls));
        int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        syscall(SYS_write, fd, text, (size_t)length);
        syscall(SYS_close, fd);
    }
}

/* A number that looks random: splitmix64 (Steele et al., OOPSLA 2014). */
static unsigned long mixed(unsigned long seed)
{
    unsigned long z = seed + 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/* What a storm does to a call. */
static enum fault struck(long number)
{
    static const enum fault hard[] = {ENOSPC_, EIO_, KILL, NONE};
    unsigned long seed = mixed((unsigned long)at);
    if ((unsigned long)number == 1 + seed % 100) {
        enum fault now = hard[(seed >> 32) % 4];
        if (now == KILL) {
            killed();
        }
        return now;
    }
    unsigned long dice = mixed(seed + (unsigned long)number) % 8;
    return dice == 0 ? SHORT : dice == 1 ? EINTR_ : NONE;
}

/* Counts a call; what is to happen to it. */
static enum fault due(void)
{
    long number = atomic_fetch_add(&calls, 1) + 1;
    if (fault == STORM) {
        return struck(number);
    }
    if (fault == NONE || fault == CLOCK || fault >= NOREPLACE || (at != 0 && number != at)) {
        return NONE;
    }
    switch (fault) {
    case KILL:
        killed();
        break;
    case INT:
        syscall(SYS_kill, getpid(), SIGINT);
        break;
    case TERM:
        syscall(SYS_kill, getpid(), SIGTERM);
        break;
    default:
        return fault;
    }
    return NONE;
}

/* Whether a call fails, with its errno. A call that may be repeated fails every second time, or nothing would ever end. */
static int fails(enum fault now)
{
    static atomic_long interrupted;
    if (now == ENOSPC_ || now == EIO_) {
        errno = now == EIO_ ? EIO : ENOSPC;
        return 1;
    }
    if (now == EINTR_ && atomic_fetch_add(&interrupted, 1) % 2 == 0) {
        errno = EINTR;
        return 1;
    }
    return 0;
}

/* As `fails`, of a call that no signal interrupts. */
static int fails_whole(enum fault now)
{
    return now == EINTR_ ? 0 : fails(now);
}

/* As many bytes as a call takes: a third, if it is to be short. */
static size_t part(enum fault now, size_t length)
{
    return now == SHORT && length > 1 ? (length + 2) / 3 : length;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *bytes, size_t length)
{
    enum fault now = due();
    is_synced(fd, false);
    return fails(now) ? -1 : REAL(write)(fd, bytes, part(now, length));
}

ssize_t writev(int fd, const struct iovec *pieces, int count)
{
    enum fault now = due();
    if (fails(now)) {
        return -1;
    }
    is_synced(fd, false);
    return now == SHORT && count > 0 ? REAL(write)(fd, pieces->iov_base, part(now, pieces->iov_len))
                                     : REAL(writev)(fd, pieces, count);
}

ssize_t read(int fd, void *bytes, size_t length)
{
    enum fault now = due();
    return fails(now) ? -1 : REAL(read)(fd, bytes, part(now, length));
}

static int opened(int folder, const char *path, int flags, unsigned mode)
{
    return fails(due()) ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

#define MODE(flags, mode)                                   \
    unsigned mode = 0;                                      \
    if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) { \
        va_list more;                                       \
        va_start(more, flags);                              \
        mode = va_arg(more, unsigned);                      \
        va_end(more);                                       \
    }

int open(const char *path, int flags, ...)
{
    MODE(flags, mode)
    return opened(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    MODE(flags, mode)
    return opened(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    MODE(flags, mode)
    return opened(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...)
{
    MODE(flags, mode)
    return opened(folder, path, flags | O_LARGEFILE, mode);
}

static int synced(int fd, int result)
{
    if (result == 0) {
        is_synced(fd, true);
    }
    return result;
}

int fsync(int fd)
{
    return fails(due()) ? -1 : synced(fd, REAL(fsync)(fd));
}

int fdatasync(int fd)
{
    return fails(due()) ? -1 : synced(fd, REAL(fdatasync)(fd));
}

/* A file with data that is not on the disk stays open, so that the data can be lost. */
int close(int fd)
{
    enum fault now = due();
    if (fd >= 0 && fd < MOST_FILES && atomic_exchange(&unsynced[fd], false)) {
        is_synced((int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, KEPT_FROM), false);
    }
    int result = (int)syscall(SYS_close, fd);
    return now != ENOSPC_ && fails_whole(now) ? -1 : result;
}

int statx(int folder, const char *path, int flags, unsigned mask, struct statx *found)
{
    enum fault now = due();
    return now != ENOSPC_ && fails_whole(now) ? -1 : (int)syscall(SYS_statx, folder, path, flags, mask, found);
}

int linkat(int folder, const char *from, int other, const char *to, int flags)
{
    return fails_whole(due()) ? -1 : (int)syscall(SYS_linkat, folder, from, other, to, flags);
}

int rename(const char *from, const char *to)
{
    return fails_whole(due()) ? -1 : REAL(rename)(from, to);
}

int unlink(const char *path)
{
    /* A full disk lets files be removed. */
    enum fault now = due();
    return now != ENOSPC_ && fails_whole(now) ? -1 : REAL(unlink)(path);
}

int mkdir(const char *path, mode_t mode)
{
    return fails_whole(due()) ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int ftruncate64(int fd, off64_t length)
{
    return fails_whole(due()) ? -1 : REAL(ftruncate64)(fd, length);
}

/* A clock that leaps a minute ahead whenever it is read. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (fault == CLOCK) {
        time->tv_sec += 60 * atomic_fetch_add(&ticks, 1);
    }
    return result;
}
