/* Preloaded into every process of a run of the suite (scripts/repeat-tests.sh): a sync takes SYNC_US microseconds longer,
   or, with SYNC_US 0, has no effect. Then those on loop devices still have theirs: a test that has a device of its own counts
   what reaches it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/major.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <time.h>

static void wait_for_it(void) {
    struct timespec left = {SYNC_US / 1000000, SYNC_US % 1000000 * 1000L};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

static int is_on_loop_device(int file) {
    struct stat found;
    return fstat(file, &found) == 0 && major(found.st_dev) == LOOP_MAJOR;
}

#define SYNC(name, parameters, arguments)                                                                              \
    int name parameters {                                                                                              \
        if (SYNC_US == 0 && !is_on_loop_device(file))                                                                  \
            return 0;                                                                                                  \
        int (*real) parameters = (int(*) parameters)dlsym(RTLD_NEXT, #name);                                           \
        int result = real arguments, error = errno;                                                                    \
        if (SYNC_US > 0)                                                                                               \
            wait_for_it();                                                                                             \
        errno = error;                                                                                                 \
        return result;                                                                                                 \
    }

SYNC(fsync, (int file), (file))
SYNC(fdatasync, (int file), (file))
SYNC(syncfs, (int file), (file))
SYNC(sync_file_range, (int file, off64_t from, off64_t bytes, unsigned flags), (file, from, bytes, flags))
