#include "CZlib.h"

#include <stdlib.h>
#include <string.h>

#if defined(__APPLE__)

#define ZLIB_CONST
#include <zlib.h>

#else

// z_stream, which is part of zlib's ABI since 1995.
typedef struct {
    const uint8_t *next_in;
    unsigned avail_in;
    unsigned long total_in;
    uint8_t *next_out;
    unsigned avail_out;
    unsigned long total_out;
    const char *msg;
    void *state;
    void *zalloc;
    void *zfree;
    void *opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
} z_stream;

enum { Z_NO_FLUSH = 0, Z_FINISH = 4, Z_OK = 0, Z_STREAM_END = 1, Z_BUF_ERROR = -5, Z_DEFLATED = 8 };

#endif

enum { GZIP_WINDOW = 15 + 16 };

struct functions {
    const char *(*version)(void);
    int (*deflate_init)(z_stream *, int, int, int, int, int, const char *, int);
    int (*deflate)(z_stream *, int);
    int (*deflate_end)(z_stream *);
    int (*inflate_init)(z_stream *, int, const char *, int);
    int (*inflate)(z_stream *, int);
    int (*inflate_reset)(z_stream *);
    int (*inflate_end)(z_stream *);
};

#if defined(__linux__)

#include <dlfcn.h>
#include <pthread.h>

static struct functions zlib;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *load_error = 0;

static void load(void) {
#if defined(__ANDROID__)
    void *library = dlopen("libz.so", RTLD_NOW | RTLD_LOCAL);
#else
    void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
#endif
    if (!library) {
        load_error = "zlib was not found: install it (Debian, Ubuntu: zlib1g; Fedora: zlib)";
        return;
    }
    *(void **)&zlib.version = dlsym(library, "zlibVersion");
    *(void **)&zlib.deflate_init = dlsym(library, "deflateInit2_");
    *(void **)&zlib.deflate = dlsym(library, "deflate");
    *(void **)&zlib.deflate_end = dlsym(library, "deflateEnd");
    *(void **)&zlib.inflate_init = dlsym(library, "inflateInit2_");
    *(void **)&zlib.inflate = dlsym(library, "inflate");
    *(void **)&zlib.inflate_reset = dlsym(library, "inflateReset");
    *(void **)&zlib.inflate_end = dlsym(library, "inflateEnd");
    if (!zlib.version || !zlib.deflate_init || !zlib.deflate || !zlib.deflate_end || !zlib.inflate_init ||
        !zlib.inflate || !zlib.inflate_reset || !zlib.inflate_end) {
        load_error = "this build of zlib lacks deflate or inflate";
    }
}

const char *czlib_load(void) {
    pthread_once(&once, load);
    return load_error;
}

#elif defined(__APPLE__)

static const struct functions zlib = {zlibVersion, deflateInit2_, deflate, deflateEnd, inflateInit2_, inflate, inflateReset, inflateEnd};

const char *czlib_load(void) { return 0; }

#else

static struct functions zlib;

const char *czlib_load(void) { return "zlib can't be used on this platform"; }

#endif

void *czlib_new_gzip(int level) {
    z_stream *stream = calloc(1, sizeof *stream);
    if (!stream) { return 0; }
    if (zlib.deflate_init(stream, level, Z_DEFLATED, GZIP_WINDOW, 8, 0, zlib.version(), (int)sizeof *stream) != Z_OK) {
        free(stream);
        return 0;
    }
    return stream;
}

void czlib_free(void *stream) {
    if (!stream) { return; }
    zlib.deflate_end(stream);
    free(stream);
}

int czlib_deflate(void *raw, const uint8_t *input, uint32_t input_size, uint32_t *taken, uint8_t *output,
                  uint32_t output_size, uint32_t *made, int finish) {
    z_stream *stream = raw;
    stream->next_in = input;
    stream->avail_in = input_size;
    stream->next_out = output;
    stream->avail_out = output_size;
    int result = zlib.deflate(stream, finish ? Z_FINISH : Z_NO_FLUSH);
    *taken = input_size - stream->avail_in;
    *made = output_size - stream->avail_out;
    if (result == Z_STREAM_END) { return CZLIB_END; }
    return result == Z_OK || result == Z_BUF_ERROR ? CZLIB_MORE : CZLIB_FAILED;
}

void *czlib_new_inflate(int window_bits) {
    z_stream *stream = calloc(1, sizeof *stream);
    if (!stream) { return 0; }
    if (zlib.inflate_init(stream, window_bits, zlib.version(), (int)sizeof *stream) != Z_OK) {
        free(stream);
        return 0;
    }
    return stream;
}

void czlib_free_inflate(void *stream) {
    if (!stream) { return; }
    zlib.inflate_end(stream);
    free(stream);
}

int czlib_reset_inflate(void *stream) { return zlib.inflate_reset(stream) == Z_OK ? CZLIB_MORE : CZLIB_FAILED; }

int czlib_inflate(void *raw, const uint8_t *input, uint32_t input_size, uint32_t *taken, uint8_t *output,
                  uint32_t output_size, uint32_t *made) {
    z_stream *stream = raw;
    stream->next_in = input;
    stream->avail_in = input_size;
    stream->next_out = output;
    stream->avail_out = output_size;
    int result = zlib.inflate(stream, Z_NO_FLUSH);
    *taken = input_size - stream->avail_in;
    *made = output_size - stream->avail_out;
    if (result == Z_STREAM_END) { return CZLIB_END; }
    return result == Z_OK || result == Z_BUF_ERROR ? CZLIB_MORE : CZLIB_FAILED;
}
