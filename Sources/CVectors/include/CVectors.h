// A thin shim over the processor's vector instructions, whichever it has: Swift's SIMD types can compare bytes, too, but
// have no way to gather the results in a word other than one by one. No logic lives here.
#pragma once

#include <stdint.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "The first byte's bit must be the lowest.");

// Compares 64 bytes at once: a bit for each, the first byte's the lowest, one where (byte | mask) == wanted.
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
