// A thin shim over the system's brotli decoder (Linux), without logic. It is loaded at run time, so that building needs no
// headers. Call cbrotli_load first; if it doesn't return NULL, call nothing else.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Loads libbrotlidec once. Returns NULL, or a static text that says why it can't be used.
const char *cbrotli_load(void);

// A decoder; NULL if there is no memory.
void *cbrotli_new(void);
void cbrotli_free(void *decoder);

enum cbrotli_result {
    CBROTLI_MORE = 0,
    CBROTLI_END = 1,
    CBROTLI_FAILED = -1,
};

// Decodes from memory to memory: sets how much input was taken and how much output was made.
int cbrotli_decode(void *decoder, const uint8_t *input, size_t input_size, size_t *taken, uint8_t *output,
                   size_t output_size, size_t *made);
