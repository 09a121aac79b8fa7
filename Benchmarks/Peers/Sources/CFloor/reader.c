#include "reader.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// The same sizes as in CurlTransport.
enum { block_size = 124 * 1024, block_count = 8, blocks_at_once = 4 };

struct reader {
    pthread_t thread;
    sem_t filled;  // posted once for several blocks
    sem_t room;    // counts the blocks that may be filled
    char *blocks[block_count];
    size_t counts[block_count];
    atomic_size_t given;
    atomic_bool is_over;
    bool is_filling;
    int unannounced;
    size_t taken;
    size_t bytes_taken;
};

static void *take(void *context) {
    reader_t reader = context;
    while (sem_wait(&reader->filled) == 0 && !reader->is_over) {
        while (reader->taken != reader->given) {
            reader->bytes_taken += reader->counts[reader->taken++ % block_count];
            sem_post(&reader->room);
        }
    }
    return NULL;
}

reader_t reader_open(void) {
    reader_t reader = calloc(1, sizeof *reader);
    for (int i = 0; i < block_count; i++) reader->blocks[i] = malloc(block_size);
    sem_init(&reader->filled, 0, 0);
    sem_init(&reader->room, 0, block_count);
    pthread_create(&reader->thread, NULL, take, reader);
    return reader;
}

static void announce(reader_t reader) {
    if (reader->unannounced == 0) return;
    reader->unannounced = 0;
    sem_post(&reader->filled);
}

static void end_block(reader_t reader) {
    reader->is_filling = false;
    reader->given++;
    if (++reader->unannounced == blocks_at_once) announce(reader);
}

static void begin_block(reader_t reader) {
    if (sem_trywait(&reader->room) != 0) {
        announce(reader);
        sem_wait(&reader->room);
    }
    reader->counts[reader->given % block_count] = 0;
    reader->is_filling = true;
}

void reader_give(reader_t reader, const char *bytes, size_t length) {
    while (length > 0) {
        if (!reader->is_filling) begin_block(reader);
        size_t index = reader->given % block_count, filled = reader->counts[index];
        size_t part = length < block_size - filled ? length : block_size - filled;
        memcpy(reader->blocks[index] + filled, bytes, part);
        reader->counts[index] += part;
        bytes += part;
        length -= part;
        if (reader->counts[index] == block_size) end_block(reader);
    }
}

void reader_flush(reader_t reader) {
    if (reader->is_filling) end_block(reader);
    announce(reader);
}

void reader_close(reader_t reader) {
    reader->is_over = true;
    sem_post(&reader->filled);
    pthread_join(reader->thread, NULL);
    for (int i = 0; i < block_count; i++) free(reader->blocks[i]);
    sem_destroy(&reader->filled);
    sem_destroy(&reader->room);
    free(reader);
}
