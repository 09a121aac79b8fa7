// A thin shim over the system's brotli decoder (Linux): building needs none of its headers, and it is loaded at run time. No
// logic lives here. Nothing but cbrotli_load may be called before that has returned NULL.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Loads libbrotlidec once. Returns NULL, or why it can't be used (a static text).
const char *cbrotli_load(void);

// A decoder; NULL if there is no memory.
void *cbrotli_new(void);
void cbrotli_free(void *decoder);

enum cbrotli_result {
    CBROTLI_MORE = 0,
    CBROTLI_END = 1,
    CBROTLI_FAILED = -1,
};

// Decodes from memory to memory: says how much of the input was taken, and how much output was made.
int cbrotli_decode(void *decoder, const uint8_t *input, size_t input_size, size_t *taken, uint8_t *output,
                   size_t output_size, size_t *made);
