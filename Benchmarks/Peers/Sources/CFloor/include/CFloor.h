// Drives libcurl from C: the floor for every transport that uses libcurl. Also runs wrk, which shows the server's ceiling.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Handles that keep their connections between runs.
typedef struct cfloor *cfloor_t;

typedef enum {
    CFLOOR_DISCARD, // counted
    CFLOOR_BUFFER,  // collected in memory, allocated at once if the length is known
    CFLOOR_FILE,    // written to a file
    CFLOOR_READER,  // copied to another thread, which counts
} cfloor_body;

typedef struct {
    const char *url;
    const char *roots;     // a file of trusted certificates, or NULL
    const char *file;      // where CFLOOR_FILE writes
    int in_flight;
    cfloor_body body;
    bool http2;
    bool decodes;          // content codings, by libcurl itself
    long buffer_size;      // 0: libcurl's default
} cfloor_settings;

cfloor_t cfloor_open(const cfloor_settings *settings);
void cfloor_close(cfloor_t floor);
// Sends requests over blocking easy handles, each on a separate thread. Returns the number of failures.
int cfloor_run_threads(cfloor_t floor, int requests);
// Sends requests one at a time on another thread, which wakes this thread after each. This is the floor for a caller that must
// not block in libcurl. Returns the number of failures.
int cfloor_run_handed_over(cfloor_t floor, int requests);

// A thread that sends requests for its callers, one at a time, and calls them back.
typedef struct handover *cfloor_handover_t;
typedef void (*cfloor_done)(void *context, bool failed);
cfloor_handover_t cfloor_hand_over(cfloor_t floor);
// Starts a request and returns at once. The thread calls `done` when the request has ended.
void cfloor_ask(cfloor_handover_t handover, cfloor_done done, void *context);
// Ends the thread.
void cfloor_take_back(cfloor_handover_t handover);

// Sends requests over one multi handle on the calling thread. Returns the number of failures.
int cfloor_run_multi(cfloor_t floor, int requests);

// Runs a wrk command. Returns false on failure; otherwise sets the requests per second and wrk's CPU time per request, in
// nanoseconds.
bool cfloor_wrk(const char *command, double *requests_per_second, double *cpu);
