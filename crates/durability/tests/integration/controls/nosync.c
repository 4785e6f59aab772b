/* Syncs that do nothing, for LD_PRELOAD: replaces fsync and similar functions of the libc. Also opens
 * files without O_SYNC and O_DSYNC, and writes without RWF_SYNC and RWF_DSYNC. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

int fsync(int fd) { (void)fd; return 0; }
int fdatasync(int fd) { (void)fd; return 0; }
int msync(void *at, size_t length, int flags) { (void)at; (void)length; (void)flags; return 0; }
int sync_file_range(int fd, off64_t at, off64_t length, unsigned flags) {
    (void)fd; (void)at; (void)length; (void)flags; return 0;
}
int syncfs(int fd) { (void)fd; return 0; }
void sync(void) {}

/* O_SYNC contains the bit of O_DSYNC. O_TMPFILE has several bits, and needs a mode like O_CREAT. */
#define UNSYNCED(flags) ((flags) & ~(O_SYNC | O_DSYNC))
#define MODE(flags, after) ({ \
    mode_t mode = 0; \
    if ((flags) & O_CREAT || ((flags) & O_TMPFILE) == O_TMPFILE) { \
        va_list more; va_start(more, after); mode = va_arg(more, mode_t); va_end(more); \
    } \
    mode; })
#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        static int (*libc)(const char *, int, ...); \
        mode_t mode = MODE(flags, flags); \
        if (!libc) *(void **)&libc = dlsym(RTLD_NEXT, #name); \
        return libc(path, UNSYNCED(flags), mode); \
    }
#define OPENAT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        static int (*libc)(int, const char *, int, ...); \
        mode_t mode = MODE(flags, flags); \
        if (!libc) *(void **)&libc = dlsym(RTLD_NEXT, #name); \
        return libc(folder, path, UNSYNCED(flags), mode); \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t at, int flags) {
    static ssize_t (*libc)(int, const struct iovec *, int, off_t, int);
    if (!libc) *(void **)&libc = dlsym(RTLD_NEXT, "pwritev2");
    return libc(fd, parts, count, at, flags & ~(RWF_SYNC | RWF_DSYNC));
}
