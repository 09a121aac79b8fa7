// A thread that receives copies of libcurl's data, as a caller on another thread does.
#pragma once

#include <stddef.h>

typedef struct reader *reader_t;

reader_t reader_open(void);
// Copies bytes into blocks. Wakes the thread once for several blocks, and waits if the thread holds all blocks.
void reader_give(reader_t reader, const char *bytes, size_t length);
// Passes a partly filled block to the thread.
void reader_flush(reader_t reader);
void reader_close(reader_t reader);
