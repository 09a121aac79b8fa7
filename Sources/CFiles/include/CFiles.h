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
