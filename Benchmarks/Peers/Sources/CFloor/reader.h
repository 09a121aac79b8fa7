// A thread that is given copies of what libcurl receives, as a caller on a thread of its own must be.
#pragma once

#include <stddef.h>

typedef struct reader *reader_t;

reader_t reader_open(void);
// Copies bytes into a block. The thread is woken for some blocks at once, and waited for when it holds all of them.
void reader_give(reader_t reader, const char *bytes, size_t length);
// Gives the thread what has not filled a block.
void reader_flush(reader_t reader);
void reader_close(reader_t reader);
