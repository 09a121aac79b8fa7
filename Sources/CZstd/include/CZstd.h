// A thin shim over the system's zstd decoder (Linux), without logic. It is loaded at run time, so that building needs no
// headers. Call czstd_load first; if it doesn't return NULL, call nothing else.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Loads libzstd once. Returns NULL, or a static text that says why it can't be used.
const char *czstd_load(void);

// A decoder for frames with windows of up to 2 to the power of window_log bytes; NULL if there is no memory.
void *czstd_new(int window_log);
void czstd_free(void *decoder);

enum czstd_result {
    CZSTD_MORE = 0,
    CZSTD_END = 1,
    CZSTD_FAILED = -1,
};

// Decodes from memory to memory: sets how much input was taken and how much output was made. CZSTD_END at the end of a
// frame, after which another may begin.
int czstd_decode(void *decoder, const uint8_t *input, size_t input_size, size_t *taken, uint8_t *output,
                 size_t output_size, size_t *made);
