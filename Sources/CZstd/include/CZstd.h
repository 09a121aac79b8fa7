// A thin shim over the system's zstd decoder (Linux): building needs none of its headers, and it is loaded at run time. No
// logic lives here. Nothing but czstd_load may be called before that has returned NULL.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Loads libzstd once. Returns NULL, or why it can't be used (a static text).
const char *czstd_load(void);

// A decoder for frames with windows of up to 2 to the power of window_log bytes; NULL if there is no memory.
void *czstd_new(int window_log);
void czstd_free(void *decoder);

enum czstd_result {
    CZSTD_MORE = 0,
    CZSTD_END = 1,
    CZSTD_FAILED = -1,
};

// Decodes from memory to memory: says how much of the input was taken, and how much output was made. CZSTD_END at the end of a
// frame, after which another may begin.
int czstd_decode(void *decoder, const uint8_t *input, size_t input_size, size_t *taken, uint8_t *output,
                 size_t output_size, size_t *made);
