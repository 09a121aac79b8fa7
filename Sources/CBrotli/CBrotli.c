#include "CBrotli.h"

// Android has __linux__ too, but not these libraries.
#if defined(__linux__) && !defined(__ANDROID__)

#include <dlfcn.h>
#include <pthread.h>

static struct {
    void *(*create)(void *, void *, void *);
    void (*destroy)(void *);
    int (*decompress)(void *, size_t *, const uint8_t **, size_t *, uint8_t **, size_t *);
} brotli;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *load_error = 0;

static void load(void) {
    void *library = dlopen("libbrotlidec.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        load_error = "libbrotlidec.so.1 was not found: install brotli (Debian, Ubuntu: libbrotli1; Fedora: libbrotli)";
        return;
    }
    *(void **)&brotli.create = dlsym(library, "BrotliDecoderCreateInstance");
    *(void **)&brotli.destroy = dlsym(library, "BrotliDecoderDestroyInstance");
    *(void **)&brotli.decompress = dlsym(library, "BrotliDecoderDecompressStream");
    if (!brotli.create || !brotli.destroy || !brotli.decompress) { load_error = "this build of brotli lacks its decoder"; }
}

const char *cbrotli_load(void) {
    pthread_once(&once, load);
    return load_error;
}

void *cbrotli_new(void) { return brotli.create(0, 0, 0); }

void cbrotli_free(void *decoder) { brotli.destroy(decoder); }

// BrotliDecoderResult: 0 error, 1 success, 2 needs more input, 3 needs more output.
int cbrotli_decode(void *decoder, const uint8_t *input, size_t input_size, size_t *taken, uint8_t *output,
                   size_t output_size, size_t *made) {
    size_t left = input_size, room = output_size;
    int result = brotli.decompress(decoder, &left, &input, &room, &output, 0);
    *taken = input_size - left;
    *made = output_size - room;
    return result == 0 ? CBROTLI_FAILED : result == 1 ? CBROTLI_END : CBROTLI_MORE;
}

#endif
