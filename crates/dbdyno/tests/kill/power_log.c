/* Preloaded into a command whose disk will lose power: writes down, in order, what is written, cut, synced and removed
   below $POWER_LOG_OF, and what is said on standard error. The log is $POWER_LOG.

   A record: a letter (w write, t truncate, s sync, n name, r remove, e said), then as little-endian numbers the offset
   (8 bytes), the file's inode (8), the length of the path (4) and of the data (4), then both. A file that is renamed keeps
   its inode; the sync of a folder is one record for each name in it. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_file = -1;
static const char *root;

#define REAL(type, name, parameters)                                                                                   \
    static type(*real) parameters;                                                                                     \
    if (!real)                                                                                                         \
        real = (type(*) parameters)dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void begin(void) {
    root = getenv("POWER_LOG_OF");
    const char *path = getenv("POWER_LOG");
    if (root && path)
        log_file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int is_below(const char *path) {
    return log_file >= 0 && path && strncmp(path, root, strlen(root)) == 0;
}

static void note(char what, uint64_t offset, uint64_t inode, const char *path, const void *data, uint32_t bytes) {
    uint32_t length = strlen(path);
    char head[25] = {what};
    memcpy(head + 1, &offset, 8);
    memcpy(head + 9, &inode, 8);
    memcpy(head + 17, &length, 4);
    memcpy(head + 21, &bytes, 4);
    struct iovec parts[3] = {{head, sizeof head}, {(void *)path, length}, {(void *)data, bytes}};
    if (writev(log_file, parts, 3) != (ssize_t)(sizeof head + length + bytes))
        abort();
}

static uint64_t inode_of(int file) {
    struct stat facts;
    return fstat(file, &facts) == 0 ? facts.st_ino : 0;
}

/* The path of a file of interest, or null. */
static const char *path_of(int file, char *path, size_t room) {
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = log_file < 0 ? -1 : readlink(link, path, room - 1);
    if (length < 0)
        return NULL;
    path[length] = 0;
    return is_below(path) ? path : NULL;
}

/* What is safe after the sync of a file, or of a folder. */
static void note_sync(int file, const char *path) {
    DIR *folder = opendir(path);
    if (!folder) {
        note('s', 0, inode_of(file), path, "", 0);
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
        char name[4096 + 256];
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (entry->d_type == DT_REG)
            note('n', 0, entry->d_ino, name, "", 0);
    }
    closedir(folder);
}

#define LOCKED(type, call, then)                                                                                       \
    pthread_mutex_lock(&lock);                                                                                         \
    type result = call;                                                                                                \
    int error = errno;                                                                                                 \
    if (result >= 0) {                                                                                                 \
        then;                                                                                                          \
    }                                                                                                                  \
    pthread_mutex_unlock(&lock);                                                                                       \
    errno = error;                                                                                                     \
    return result

ssize_t write(int file, const void *data, size_t bytes) {
    REAL(ssize_t, write, (int, const void *, size_t));
    char room[4096];
    if (file == 2 && log_file >= 0) {
        LOCKED(ssize_t, real(file, data, bytes), note('e', 0, 0, "", data, result));
    }
    const char *path = path_of(file, room, sizeof room);
    if (!path)
        return real(file, data, bytes);
    LOCKED(ssize_t, real(file, data, bytes),
           note('w', lseek(file, 0, SEEK_CUR) - result, inode_of(file), path, data, result));
}

static ssize_t put(ssize_t (*real)(int, const void *, size_t, off_t), int file, const void *data, size_t bytes, off_t at) {
    char room[4096];
    const char *path = path_of(file, room, sizeof room);
    if (!path)
        return real(file, data, bytes, at);
    LOCKED(ssize_t, real(file, data, bytes, at), note('w', at, inode_of(file), path, data, result));
}

ssize_t pwrite(int file, const void *data, size_t bytes, off_t at) {
    REAL(ssize_t, pwrite, (int, const void *, size_t, off_t));
    return put(real, file, data, bytes, at);
}

ssize_t pwrite64(int file, const void *data, size_t bytes, off_t at) {
    REAL(ssize_t, pwrite64, (int, const void *, size_t, off_t));
    return put(real, file, data, bytes, at);
}

#define ON_FILE(name, parameters, arguments, then)                                                             \
    int name parameters {                                                                                              \
        REAL(int, name, parameters);                                                                                   \
        char room[4096];                                                                                               \
        const char *path = path_of(file, room, sizeof room);                                                           \
        if (!path)                                                                                                     \
            return real arguments;                                                                                     \
        LOCKED(int, real arguments, then);                                                  \
    }

ON_FILE(ftruncate, (int file, off_t bytes), (file, bytes), note('t', bytes, inode_of(file), path, "", 0))
ON_FILE(ftruncate64, (int file, off_t bytes), (file, bytes), note('t', bytes, inode_of(file), path, "", 0))
ON_FILE(fsync, (int file), (file), note_sync(file, path))
ON_FILE(fdatasync, (int file), (file), note_sync(file, path))

int unlink(const char *path) {
    REAL(int, unlink, (const char *));
    if (!is_below(path))
        return real(path);
    struct stat facts;
    uint64_t inode = lstat(path, &facts) == 0 ? facts.st_ino : 0;
    LOCKED(int, real(path), note('r', 0, inode, path, "", 0));
}

#define OPENED(name)                                                                                                   \
    int name(const char *path, int flags, ...) {                                                                       \
        REAL(int, name, (const char *, int, ...));                                                                     \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;                                              \
        va_end(more);                                                                                                  \
        if (!is_below(path) || !(flags & O_TRUNC))                                                                     \
            return real(path, flags, mode);                                                                            \
        LOCKED(int, real(path, flags, mode), note('t', 0, inode_of(result), path, "", 0));                                               \
    }

OPENED(open)
OPENED(open64)
