#pragma once
#include <sys/stat.h>

// Nanoseconds since 1970 of the last modification: Darwin and glibc name the member differently.
static inline long long cfiles_modified(const struct stat *status) {
#ifdef __APPLE__
    return (long long)status->st_mtimespec.tv_sec * 1000000000 + status->st_mtimespec.tv_nsec;
#else
    return (long long)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec;
#endif
}

#ifndef __APPLE__
// The device, the number, the size and the time of the last modification of a file, following links. Returns 0, or -1 with `errno`.
// Not on Darwin, where apps have to declare why they read the times of files.
static inline int cfiles_version(const char *path, long long version[4]) {
    struct stat status;
    if (stat(path, &status) != 0) return -1;
    version[0] = (long long)status.st_dev;
    version[1] = (long long)status.st_ino;
    version[2] = (long long)status.st_size;
    version[3] = cfiles_modified(&status);
    return 0;
}
#endif
