/*
 * Makes one system call of a run of Manypack::Parallel fail, in the parent or in one of its workers, or has a signal kill
 * the process just before or after that call. One library twice: it is preloaded, so that its functions stand before the
 * C library's, and required, for Ruby to reach it. Calls that read, write or wait count only if they are about a pipe
 * that was made after arming: Ruby has files of its own, and does not survive errors there. Linux.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ruby.h"

enum { KILL_BEFORE = -1, KILL_AFTER = -2, HALF = -3 };
enum { MOST_FILES = 1024 };

/* Shared with the processes that are forked after it was made, so that one call fails among all of them. */
static struct {
    long left; /* calls until the one that fails; 0: none does */
    int failed;
} *shared;

static char call[32]; /* the name of the function, or "" for all of them */
static int fault;     /* an errno, or one of the above */
static int in_worker;
static pid_t parent;
static char old_files[MOST_FILES];

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Returns the fault if it is the turn of this call. */
static int
turn(const char *name)
{
    if (!shared || !__atomic_load_n(&shared->left, __ATOMIC_SEQ_CST)) return 0;
    if ((getpid() != parent) != in_worker || (*call && strcmp(call, name))) return 0;
    if (__atomic_sub_fetch(&shared->left, 1, __ATOMIC_SEQ_CST)) return 0;
    shared->failed = 1;
    if (fault == KILL_BEFORE) kill(getpid(), SIGKILL);
    return fault;
}

static int
is_new_pipe(int file)
{
    struct stat stat;

    if (!shared || file < 0 || (file < MOST_FILES && old_files[file])) return 0;
    return !fstat(file, &stat) && S_ISFIFO(stat.st_mode);
}

/* The value of the call, unless it fails: then nothing of it happens. The arguments may depend on the error. */
#define CALL(name, is_ours, arguments) do { \
        int error = (is_ours) ? turn(#name) : 0; \
        if (error > 0) { errno = error; return -1; } \
        if (error != KILL_AFTER) return REAL(name) arguments; \
        REAL(name) arguments; \
        kill(getpid(), SIGKILL); \
        return -1; \
    } while (0)

pid_t fork(void) { CALL(fork, 1, ()); }
int pipe2(int files[2], int flags) { CALL(pipe2, 1, (files, flags)); }
int poll(struct pollfd *files, nfds_t n, int ms) { CALL(poll, n && is_new_pipe(files[0].fd), (files, n, ms)); }
ssize_t pread(int file, void *p, size_t n, off_t at) { CALL(pread, 1, (file, p, n, at)); }

int
ppoll(struct pollfd *files, nfds_t n, const struct timespec *time, const sigset_t *mask)
{
    CALL(ppoll, n && is_new_pipe(files[0].fd), (files, n, time, mask));
}

int
select(int n, fd_set *reads, fd_set *writes, fd_set *others, struct timeval *time)
{
    int file = 0;

    while (file < n && !(reads && FD_ISSET(file, reads) && is_new_pipe(file))) file++;
    CALL(select, file < n, (n, reads, writes, others, time));
}

/* Only these can have HALF as their fault. */
ssize_t
read(int file, void *p, size_t n)
{
    CALL(read, is_new_pipe(file), (file, p, error == HALF ? (n + 1) / 2 : n));
}

ssize_t
write(int file, const void *p, size_t n)
{
    CALL(write, is_new_pipe(file), (file, p, error == HALF ? (n + 1) / 2 : n));
}

/* The half of many parts is half of the first one. */
ssize_t
writev(int file, const struct iovec *parts, int count)
{
    struct iovec half = {parts[0].iov_base, (parts[0].iov_len + 1) / 2};

    CALL(writev, is_new_pipe(file), (file, error == HALF ? &half : parts, error == HALF ? 1 : count));
}

/* Of its commands only the one that makes a pipe larger can fail on a file that is open. */
int
fcntl(int file, int command, ...)
{
    va_list arguments;
    void *argument;

    va_start(arguments, command);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    CALL(fcntl, command == F_SETPIPE_SZ, (file, command, argument));
}

/* ECHILD: somebody else has waited for the process when it ended. */
pid_t
waitpid(pid_t pid, int *status, int flags)
{
    pid_t ended = REAL(waitpid)(pid, status, flags);
    int error = pid > 0 && ended == pid ? turn("waitpid") : 0;

    if (error == KILL_AFTER) REAL(kill)(getpid(), SIGKILL);
    if (error <= 0) return ended;
    errno = error;
    return -1;
}

/* ESRCH: the process has ended by itself just before, and somebody else has waited for it. */
int
kill(pid_t pid, int signal)
{
    int error = pid > 0 && pid != getpid() ? turn("kill") : 0;

    if (error == ESRCH) {
        REAL(kill)(pid, SIGKILL);
        while (REAL(waitpid)(pid, NULL, 0) < 0 && errno == EINTR) { }
    }
    if (error > 0) { errno = error; return -1; }
    error = error == KILL_AFTER;
    signal = REAL(kill)(pid, signal);
    if (error) REAL(kill)(getpid(), SIGKILL);
    return signal;
}

int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    int error = turn("pthread_create");

    if (error > 0) return error;
    if (error == KILL_AFTER) REAL(kill)(getpid(), SIGKILL);
    return REAL(pthread_create)(thread, attributes, start, argument);
}

/*
 * The nth call from now on has the fault: an errno, -1 or -2 for a kill before or after it, or -3 for half of the bytes.
 * None has if n is 0. Returns whether one has had it since the previous arming.
 */
static VALUE
arm(VALUE self, VALUE worker, VALUE name, VALUE n, VALUE what)
{
    int was, file;

    if (!shared) shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) rb_sys_fail("mmap");
    shared->left = 0;
    was = shared->failed;
    shared->failed = 0;
    strncpy(call, StringValueCStr(name), sizeof(call) - 1);
    in_worker = RTEST(worker);
    fault = NUM2INT(what);
    parent = getpid();
    for (file = 0; file < MOST_FILES; file++) old_files[file] = REAL(fcntl)(file, F_GETFD) >= 0;
    shared->left = NUM2LONG(n);
    return was ? Qtrue : Qfalse;
}

void
Init_failing_system(void)
{
    rb_define_module_function(rb_define_module("FailingSystem"), "arm", arm, 4);
}
