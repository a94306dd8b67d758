/* Preloaded into the servers of these tests: makes their log as slow or as fast, and their data files as slow, as a test
   wants them to be. What is wanted stands in a file that the test changes while the server runs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* In the order in which delays.rs writes them. */
struct wanted {
    volatile uint32_t log_sync_us; /* a sync of the log takes so much longer */
    volatile uint32_t log_is_free; /* a sync of the log does nothing */
    volatile uint32_t read_us;     /* a read of a data file comes from the device and takes so much longer */
};

static const struct wanted *wanted;

__attribute__((constructor)) static void find(void) {
    int fd = open(WANTED, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    void *there = mmap(NULL, sizeof *wanted, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (there != MAP_FAILED)
        wanted = there;
}

static void wait_us(uint32_t us) {
    struct timespec left = {us / 1000000, us % 1000000 * 1000L};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

static int is_in(int fd, const char *part) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return strstr(path, part) != NULL;
}

static int is_log(int fd) { return is_in(fd, "/pg_wal/") || is_in(fd, "/ib_logfile"); }

static int is_data(int fd) { return is_in(fd, "/base/") || is_in(fd, ".ibd"); }

static int sync_file(int fd, const char *name) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    if (!wanted || !(wanted->log_sync_us || wanted->log_is_free) || !is_log(fd))
        return real(fd);
    if (wanted->log_is_free)
        return 0;
    int code = real(fd), error = errno;
    wait_us(wanted->log_sync_us);
    errno = error;
    return code;
}

int fsync(int fd) { return sync_file(fd, "fsync"); }

int fdatasync(int fd) { return sync_file(fd, "fdatasync"); }

/* The page cache forgets what is going to be read. */
static void before_read(int fd, off64_t from, size_t bytes) {
    if (wanted && wanted->read_us && is_data(fd)) {
        posix_fadvise64(fd, from, (off64_t)bytes, POSIX_FADV_DONTNEED);
        wait_us(wanted->read_us);
    }
}

#define PREAD(name)                                                                                                    \
    ssize_t name(int fd, void *into, size_t bytes, off64_t from) {                                                     \
        ssize_t (*real)(int, void *, size_t, off64_t) =                                                                \
            (ssize_t(*)(int, void *, size_t, off64_t))dlsym(RTLD_NEXT, #name);                                         \
        before_read(fd, from, bytes);                                                                                  \
        return real(fd, into, bytes, from);                                                                            \
    }

#define PREADV(name)                                                                                                   \
    ssize_t name(int fd, const struct iovec *into, int parts, off64_t from) {                                          \
        ssize_t (*real)(int, const struct iovec *, int, off64_t) =                                                     \
            (ssize_t(*)(int, const struct iovec *, int, off64_t))dlsym(RTLD_NEXT, #name);                              \
        size_t bytes = 0;                                                                                              \
        for (int part = 0; part < parts; part++)                                                                       \
            bytes += into[part].iov_len;                                                                               \
        before_read(fd, from, bytes);                                                                                  \
        return real(fd, into, parts, from);                                                                            \
    }

PREAD(pread)
PREAD(pread64)
PREADV(preadv)
PREADV(preadv64)
