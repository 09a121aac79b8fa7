// A thin shim over the system's zlib, without logic. It is loaded at run time on Linux, so that building needs no headers, and
// linked on Apple's platforms. Call czlib_load first; if it doesn't return NULL, call nothing else.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Loads zlib once. Returns NULL, or a static text that says why it can't be used.
const char *czlib_load(void);

// A stream that compresses to the gzip format (RFC 1952) at a level from 1 to 9; NULL if there is no memory.
void *czlib_new_gzip(int level);
// Ends a stream and frees it.
void czlib_free(void *stream);

enum czlib_result {
    CZLIB_MORE = 0,
    CZLIB_END = 1,
    CZLIB_FAILED = -1,
};

// deflate() over pieces of memory: sets how much input was taken and how much output was made.
// With `finish` it produces the remaining output, until it returns CZLIB_END.
int czlib_deflate(void *stream, const uint8_t *input, uint32_t input_size, uint32_t *taken, uint8_t *output,
                  uint32_t output_size, uint32_t *made, int finish);

// A stream that decompresses: window_bits 15 + 16 for gzip, 15 for zlib, -15 for raw deflate; NULL if there is no memory.
void *czlib_new_inflate(int window_bits);
// Ends a decompressing stream and frees it.
void czlib_free_inflate(void *stream);
// Starts the next stream, after the end of one.
int czlib_reset_inflate(void *stream);
// inflate() over pieces of memory: CZLIB_END at the end of a stream with the right checksum.
int czlib_inflate(void *stream, const uint8_t *input, uint32_t input_size, uint32_t *taken, uint8_t *output,
                  uint32_t output_size, uint32_t *made);
