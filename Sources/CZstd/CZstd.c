#include "CZstd.h"

// Android has __linux__ too, but not these libraries.
#if defined(__linux__) && !defined(__ANDROID__)

#include <dlfcn.h>
#include <pthread.h>

// ZSTD_inBuffer and ZSTD_outBuffer, which are part of zstd's stable ABI.
struct in_buffer {
    const void *start;
    size_t size;
    size_t position;
};

struct out_buffer {
    void *start;
    size_t size;
    size_t position;
};

static struct {
    void *(*create)(void);
    size_t (*destroy)(void *);
    size_t (*set_parameter)(void *, int, int);
    size_t (*decompress)(void *, struct out_buffer *, struct in_buffer *);
    unsigned (*is_error)(size_t);
} zstd;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *load_error = 0;

static void load(void) {
    void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        load_error = "libzstd.so.1 was not found: install zstd (Debian, Ubuntu: libzstd1; Fedora: libzstd)";
        return;
    }
    *(void **)&zstd.create = dlsym(library, "ZSTD_createDCtx");
    *(void **)&zstd.destroy = dlsym(library, "ZSTD_freeDCtx");
    *(void **)&zstd.set_parameter = dlsym(library, "ZSTD_DCtx_setParameter");
    *(void **)&zstd.decompress = dlsym(library, "ZSTD_decompressStream");
    *(void **)&zstd.is_error = dlsym(library, "ZSTD_isError");
    if (!zstd.create || !zstd.destroy || !zstd.set_parameter || !zstd.decompress || !zstd.is_error) {
        load_error = "this build of zstd lacks its streaming decoder";
    }
}

const char *czstd_load(void) {
    pthread_once(&once, load);
    return load_error;
}

// ZSTD_d_windowLogMax
enum { WINDOW_LOG_MAX = 100 };

void *czstd_new(int window_log) {
    void *decoder = zstd.create();
    if (decoder && zstd.is_error(zstd.set_parameter(decoder, WINDOW_LOG_MAX, window_log))) {
        zstd.destroy(decoder);
        return 0;
    }
    return decoder;
}

void czstd_free(void *decoder) { zstd.destroy(decoder); }

int czstd_decode(void *decoder, const uint8_t *input, size_t input_size, size_t *taken, uint8_t *output,
                 size_t output_size, size_t *made) {
    struct in_buffer in = {input, input_size, 0};
    struct out_buffer out = {output, output_size, 0};
    size_t result = zstd.decompress(decoder, &out, &in);
    *taken = in.position;
    *made = out.position;
    if (zstd.is_error(result)) { return CZSTD_FAILED; }
    return result == 0 ? CZSTD_END : CZSTD_MORE;
}

#endif
