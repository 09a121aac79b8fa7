#include "CMemoryPressure.h"

#include <stddef.h>

#ifdef __APPLE__
#include <dispatch/dispatch.h>
#include <stdlib.h>

struct watch {
    void (*notice)(void *, int);
    void (*release)(void *);
    void *context;
    dispatch_source_t source;
};

static void on_event(void *pointer) {
    struct watch *watch = pointer;
    unsigned long level = dispatch_source_get_data(watch->source);
    watch->notice(watch->context, (level & DISPATCH_MEMORYPRESSURE_CRITICAL) != 0);
}

static void on_cancel(void *pointer) {
    struct watch *watch = pointer;
    watch->release(watch->context);
    dispatch_release(watch->source);
    free(watch);
}

void *cmemory_pressure_begin(void (*notice)(void *, int), void (*release)(void *), void *context) {
    struct watch *watch = malloc(sizeof *watch);
    if (watch == NULL) return NULL;
    dispatch_source_t source = dispatch_source_create(
        DISPATCH_SOURCE_TYPE_MEMORYPRESSURE, 0, DISPATCH_MEMORYPRESSURE_WARN | DISPATCH_MEMORYPRESSURE_CRITICAL,
        dispatch_get_global_queue(QOS_CLASS_UTILITY, 0)
    );
    if (source == NULL) {
        free(watch);
        return NULL;
    }
    *watch = (struct watch){notice, release, context, source};
    dispatch_set_context(source, watch);
    dispatch_source_set_event_handler_f(source, on_event);
    dispatch_source_set_cancel_handler_f(source, on_cancel);
    dispatch_resume(source);
    return watch;
}

void cmemory_pressure_end(void *pointer) {
    struct watch *watch = pointer;
    dispatch_source_cancel(watch->source);
}
#else
void *cmemory_pressure_begin(void (*notice)(void *, int), void (*release)(void *), void *context) {
    (void)notice;
    (void)release;
    (void)context;
    return NULL;
}

void cmemory_pressure_end(void *watch) { (void)watch; }
#endif
