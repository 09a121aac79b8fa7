// What libcurl itself costs, driven from C: the floor under every transport that stands on it. And wrk, the server's ceiling.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Handles that keep their connections from one run to the next.
typedef struct cfloor *cfloor_t;

typedef enum {
    CFLOOR_DISCARD, // counted
    CFLOOR_BUFFER,  // gathered in memory, whose room is made when the length is known
    CFLOOR_FILE,    // written to a file
    CFLOOR_READER,  // copied for another thread, which counts
} cfloor_body;

typedef struct {
    const char *url;
    const char *roots;     // a file of trusted certificates, or NULL
    const char *file;      // where CFLOOR_FILE writes
    int in_flight;
    cfloor_body body;
    bool http2;
    long buffer_size;      // 0: libcurl's default
} cfloor_settings;

cfloor_t cfloor_open(const cfloor_settings *settings);
void cfloor_close(cfloor_t floor);
// Sends so many requests over blocking easy handles, a thread to each. Returns the count of failures.
int cfloor_run_threads(cfloor_t floor, int requests);
// Sends so many requests, one after the other, each handed to another thread which then wakes this one: what is the least for
// a caller that must not be blocked. Returns the count of failures.
int cfloor_run_handed_over(cfloor_t floor, int requests);

// A thread that sends the requests of others, one after the other, and calls them back.
typedef struct handover *cfloor_handover_t;
typedef void (*cfloor_done)(void *context, bool failed);
cfloor_handover_t cfloor_hand_over(cfloor_t floor);
// Sends a request; returns at once. The thread calls `done` when it is answered.
void cfloor_ask(cfloor_handover_t handover, cfloor_done done, void *context);
// Ends the thread.
void cfloor_take_back(cfloor_handover_t handover);

// Sends so many requests over one multi handle, on the calling thread. Returns the count of failures.
int cfloor_run_multi(cfloor_t floor, int requests);

// Runs a wrk command; gives its requests a second and its CPU time for each request in nanoseconds, or false.
bool cfloor_wrk(const char *command, double *requests_per_second, double *cpu);
