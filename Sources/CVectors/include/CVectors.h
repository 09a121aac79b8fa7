// A thin shim over the processor's vector instructions, without logic. Swift's SIMD types can compare bytes too, but can collect
// the results into a word only one by one.
#pragma once

#include <stdint.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "The first byte's bit must be the lowest.");

// Compares 64 bytes at once. Each bit of the result is 1 if (byte | mask) == wanted; the lowest bit is the first byte's.
static inline __attribute__((always_inline)) uint64_t cvectors_equal(const void *bytes, uint8_t mask, uint8_t wanted) {
    typedef uint8_t vector __attribute__((ext_vector_type(64)));
    typedef _Bool bits __attribute__((ext_vector_type(64)));
    vector loaded;
    __builtin_memcpy(&loaded, bytes, sizeof loaded);
    bits equal = __builtin_convertvector((loaded | mask) == wanted, bits);
    uint64_t word;
    __builtin_memcpy(&word, &equal, sizeof word);
    return word;
}
