#pragma once

/// Calls a function, on a queue of the system's, each time it says that memory is short. Returns what ends that; NULL where the
/// system says nothing of the kind, and then neither function is called.
///
/// - `notice`: called with the context, and with 1 if processes are about to be ended for want of memory, otherwise 0.
/// - `release`: called once with the context, after the last notice.
void *cmemory_pressure_begin(
    void (*notice)(void *context, int is_critical), void (*release)(void *context), void *context
);

/// Ends the notices.
void cmemory_pressure_end(void *watch);
