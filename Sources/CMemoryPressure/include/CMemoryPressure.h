#pragma once

/// Calls `notice` on a system queue each time the system reports that memory is short. Returns a handle for
/// cmemory_pressure_end; NULL if the system has no such reports, and then neither function is called.
///
/// - `notice`: called with the context, and with 1 if the system is about to end processes to free memory, otherwise 0.
/// - `release`: called once with the context, after the last notice.
void *cmemory_pressure_begin(
    void (*notice)(void *context, int is_critical), void (*release)(void *context), void *context
);

/// Ends the notices.
void cmemory_pressure_end(void *watch);
