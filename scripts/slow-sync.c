/* Preloaded into every process of a run of the suite (scripts/repeat-tests.sh): a sync takes SYNC_US microseconds longer,
   or, with SYNC_US 0, has no effect. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/types.h>
#include <time.h>

static void wait_for_it(void) {
    struct timespec left = {SYNC_US / 1000000, SYNC_US % 1000000 * 1000L};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

#define SYNC(name, parameters, arguments)                                                                              \
    int name parameters {                                                                                              \
        if (SYNC_US == 0)                                                                                              \
            return 0;                                                                                                  \
        int (*real) parameters = (int(*) parameters)dlsym(RTLD_NEXT, #name);                                           \
        int result = real arguments, error = errno;                                                                    \
        wait_for_it();                                                                                                 \
        errno = error;                                                                                                 \
        return result;                                                                                                 \
    }

SYNC(fsync, (int file), (file))
SYNC(fdatasync, (int file), (file))
SYNC(syncfs, (int file), (file))
SYNC(sync_file_range, (int file, off64_t from, off64_t bytes, unsigned flags), (file, from, bytes, flags))
