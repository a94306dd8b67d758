/* The floor: the least that a driver of io_uring can cost. One thread, fixed buffers and one fixed file, batches,
 * 4 KiB writes (or reads) at random addresses, two readings of the processor's counter for each I/O and one histogram
 * with 64 buckets an octave. It draws no streams, keeps no rate and checks nothing. For x86-64.
 *
 * Usage: floor read|write PATH DEPTH BATCH SECONDS      Prints IOPS and µs of processor time for each I/O.
 * Build: cc -O2 -o floor floor.c -luring
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <x86intrin.h>

enum { BLOCK = 4096, BLOCKS = 1 << 18, DEPTH_MAX = 4096 };

static unsigned long counts[64 * 64];

static void count_cycles(unsigned long cycles) {
    unsigned octave = 63 - __builtin_clzl(cycles | 1);
    counts[octave < 6 ? cycles : (octave - 5) * 64 + (cycles >> (octave - 6) & 63)]++;
}

static unsigned long now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000UL + time.tv_nsec;
}

static double cpu_us(void) {
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e6 + use.ru_utime.tv_usec + use.ru_stime.tv_usec;
}

static void check(int failed, const char *what) {
    if (failed) {
        fprintf(stderr, "floor: %s failed\n", what);
        exit(1);
    }
}

int main(int count, char **words) {
    check(count != 6, "reading the arguments (read|write PATH DEPTH BATCH SECONDS)");
    int writes = !strcmp(words[1], "write"), depth = atoi(words[3]), batch = atoi(words[4]);
    unsigned long length_ns = atof(words[5]) * 1e9;
    check(depth < 1 || depth > DEPTH_MAX || batch < 1, "depth or batch");
    int file = open(words[2], writes ? O_RDWR : O_RDONLY);
    check(file < 0, "open");

    struct io_uring ring;
    struct io_uring_params asked = {.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN};
    check(io_uring_queue_init_params(depth, &ring, &asked), "io_uring_setup");
    struct iovec all = {.iov_len = (size_t)depth * BLOCK};
    check(posix_memalign(&all.iov_base, BLOCK, all.iov_len), "memory");
    memset(all.iov_base, 0x5a, all.iov_len);
    check(io_uring_register_buffers(&ring, &all, 1), "registering the buffers");
    check(io_uring_register_files(&ring, &file, 1), "registering the file");

    static unsigned free_slots[DEPTH_MAX];
    static unsigned long started[DEPTH_MAX];
    int free_count = 0;
    for (int slot = depth; slot > 0; slot--) free_slots[free_count++] = slot - 1;

    unsigned long random = 88172645463325252UL, done = 0, begin = now_ns(), time = begin;
    double cpu_begin = cpu_us();
    while (time - begin < length_ns) {
        for (int i = 0; i < batch && free_count > 0; i++) {
            unsigned slot = free_slots[--free_count];
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            unsigned long offset = ((unsigned __int128)random * BLOCKS >> 64) * BLOCK;
            char *buffer = (char *)all.iov_base + (size_t)slot * BLOCK;
            struct io_uring_sqe *entry = io_uring_get_sqe(&ring);
            if (writes) io_uring_prep_write_fixed(entry, 0, buffer, BLOCK, offset, 0);
            else io_uring_prep_read_fixed(entry, 0, buffer, BLOCK, offset, 0);
            entry->flags |= IOSQE_FIXED_FILE;
            entry->user_data = slot;
            started[slot] = __rdtsc();
        }
        check(io_uring_submit_and_wait(&ring, 1) < 0, "io_uring_enter");
        time = now_ns();
        struct io_uring_cqe *entry;
        unsigned head, seen = 0;
        io_uring_for_each_cqe(&ring, head, entry) {
            check(entry->res != BLOCK, "an I/O");
            count_cycles(__rdtsc() - started[entry->user_data]);
            free_slots[free_count++] = entry->user_data;
            seen++;
        }
        io_uring_cq_advance(&ring, seen);
        done += seen;
    }
    printf("iops=%.0f cpu_us=%.4f\n", done / ((time - begin) / 1e9), (cpu_us() - cpu_begin) / done);
    return 0;
}
