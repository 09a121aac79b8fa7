// For pthread_setname_np.
#define _GNU_SOURCE
#include "CCurl.h"

// Android has __linux__ too, but not these libraries.
#if defined(__linux__) && !defined(__ANDROID__)

#include <dlfcn.h>
#include <pthread.h>

// Only the beginning of curl_version_info_data, which never changes.
struct version_info {
    int age;
    const char *version;
    unsigned version_num;
    const char *host;
    int features;
    const char *ssl_version;
};

// CURLMsg.
struct message {
    int msg;
    void *easy;
    union {
        void *whatever;
        int result;
    } data;
};

// curl_tlssessioninfo.
struct session {
    int backend;
    void *internals;
};

struct functions {
    int (*global_init)(long);
    struct version_info *(*version_info)(int);
    void *(*easy_init)(void);
    void (*easy_cleanup)(void *);
    void (*easy_reset)(void *);
    int (*easy_pause)(void *, int);
    const char *(*easy_strerror)(int);
    int (*easy_setopt)(void *, int, ...);
    int (*easy_getinfo)(void *, int, ...);
    void *(*url)(void);
    void (*url_cleanup)(void *);
    int (*url_set)(void *, int, const char *, unsigned);
    void *(*multi_init)(void);
    int (*multi_cleanup)(void *);
    int (*multi_setopt)(void *, int, ...);
    int (*multi_add_handle)(void *, void *);
    int (*multi_remove_handle)(void *, void *);
    int (*multi_perform)(void *, int *);
    int (*multi_poll)(void *, void *, unsigned, int, int *);
    int (*multi_wakeup)(void *);
    int (*multi_timeout)(void *, long *);
    struct message *(*multi_info_read)(void *, int *);
};

static struct functions curl;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *load_error = 0;
static struct version_info *info = 0;
static void *loaded = 0;

// Why a library can't be used; 0 if it can: then its functions are found.
static const char *resolve(void *library, struct functions *functions) {
    if (!library) {
        return "libcurl.so.4 was not found: install libcurl (Debian, Ubuntu: libcurl4; Fedora: libcurl)";
    }
#define RESOLVE(name) \
    *(void **)&functions->name = dlsym(library, "curl_" #name); \
    if (!functions->name) { \
        return "libcurl is too old: it has no curl_" #name " (7.80 or later is needed)"; \
    }
    RESOLVE(global_init)
    RESOLVE(version_info)
    RESOLVE(easy_init)
    RESOLVE(easy_cleanup)
    RESOLVE(easy_reset)
    RESOLVE(easy_pause)
    RESOLVE(easy_strerror)
    RESOLVE(easy_setopt)
    RESOLVE(easy_getinfo)
    RESOLVE(url)
    RESOLVE(url_cleanup)
    RESOLVE(url_set)
    RESOLVE(multi_init)
    RESOLVE(multi_cleanup)
    RESOLVE(multi_setopt)
    RESOLVE(multi_add_handle)
    RESOLVE(multi_remove_handle)
    RESOLVE(multi_perform)
    RESOLVE(multi_poll)
    RESOLVE(multi_wakeup)
    RESOLVE(multi_timeout)
    RESOLVE(multi_info_read)
#undef RESOLVE
    struct version_info *version = functions->version_info(0);
    if (!version || version->version_num < 0x075000) {
        return "libcurl is too old: 7.80 or later is needed";
    }
    return 0;
}

static void load(void) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    load_error = resolve(library, &curl);
    if (load_error) { return; }
    if (curl.global_init(3 /* CURL_GLOBAL_ALL */) != 0) {
        load_error = "libcurl could not be initialised";
        return;
    }
    info = curl.version_info(0);
    loaded = library;
}

const char *ccurl_load(void) {
    pthread_once(&once, load);
    return load_error;
}

const char *ccurl_problem(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    struct functions functions;
    const char *problem = resolve(library, &functions);
    if (library) { dlclose(library); }
    return problem;
}

const char *ccurl_version(void) { return info->version; }
unsigned ccurl_version_number(void) { return info->version_num; }
const char *ccurl_ssl_version(void) { return info->ssl_version; }
int ccurl_features(void) { return info->features; }
void *ccurl_symbol(const char *name) { return dlsym(loaded, name); }

int ccurl_thread_start(size_t stack_size, ccurl_thread_body body, void *context) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, stack_size);
    int code = pthread_create(&thread, &attributes, body, context);
    pthread_attr_destroy(&attributes);
    return code;
}
int ccurl_name_thread(const char *name) { return pthread_setname_np(pthread_self(), name); }

void *ccurl_easy_init(void) { return curl.easy_init(); }
void ccurl_easy_cleanup(void *easy) { curl.easy_cleanup(easy); }
void ccurl_easy_reset(void *easy) { curl.easy_reset(easy); }
int ccurl_easy_pause(void *easy, int bitmask) { return curl.easy_pause(easy, bitmask); }
const char *ccurl_easy_strerror(int code) { return curl.easy_strerror(code); }
int ccurl_easy_setopt_long(void *easy, int option, long value) { return curl.easy_setopt(easy, option, value); }
int ccurl_easy_setopt_int64(void *easy, int option, int64_t value) { return curl.easy_setopt(easy, option, value); }
int ccurl_easy_setopt_pointer(void *easy, int option, const void *value) {
    return curl.easy_setopt(easy, option, value);
}
int ccurl_easy_getinfo_long(void *easy, int which, long *value) { return curl.easy_getinfo(easy, which, value); }
int ccurl_easy_getinfo_int64(void *easy, int which, int64_t *value) { return curl.easy_getinfo(easy, which, value); }
int ccurl_easy_getinfo_pointer(void *easy, int which, void **value) { return curl.easy_getinfo(easy, which, value); }

int ccurl_easy_setopt_data_callback(void *easy, int option, ccurl_data_callback callback) {
    return curl.easy_setopt(easy, option, callback);
}
int ccurl_easy_setopt_prerequest_callback(void *easy, ccurl_prerequest_callback callback) {
    return curl.easy_setopt(easy, CCURLOPT_PREREQFUNCTION, callback);
}
int ccurl_easy_setopt_socket_callback(void *easy, ccurl_socket_callback callback) {
    return curl.easy_setopt(easy, CCURLOPT_SOCKOPTFUNCTION, callback);
}
int ccurl_easy_setopt_progress_callback(void *easy, ccurl_progress_callback callback) {
    return curl.easy_setopt(easy, CCURLOPT_XFERINFOFUNCTION, callback);
}
int ccurl_easy_setopt_open_callback(void *easy, ccurl_open_callback callback) {
    return curl.easy_setopt(easy, CCURLOPT_OPENSOCKETFUNCTION, callback);
}
int ccurl_easy_setopt_close_callback(void *easy, ccurl_close_callback callback) {
    return curl.easy_setopt(easy, CCURLOPT_CLOSESOCKETFUNCTION, callback);
}
void *ccurl_easy_ssl(void *easy) {
    struct session *session = 0;
    int code = curl.easy_getinfo(easy, CCURLINFO_TLS_SSL_PTR, &session);
    return code == 0 && session && session->backend == 1 /* CURLSSLBACKEND_OPENSSL */ ? session->internals : 0;
}
int ccurl_easy_setopt_ssl_context_callback(void *easy, ccurl_ssl_context_callback callback) {
    return curl.easy_setopt(easy, CCURLOPT_SSL_CTX_FUNCTION, callback);
}

void *ccurl_url_init(void) { return curl.url(); }
void ccurl_url_cleanup(void *url) { curl.url_cleanup(url); }
bool ccurl_url_set(void *url, const char *text, int flags) {
    return curl.url_set(url, 0 /* CURLUPART_URL */, text, (unsigned)flags) == 0;
}

void *ccurl_multi_init(void) { return curl.multi_init(); }
int ccurl_multi_cleanup(void *multi) { return curl.multi_cleanup(multi); }
int ccurl_multi_setopt_long(void *multi, int option, long value) { return curl.multi_setopt(multi, option, value); }
int ccurl_multi_add_handle(void *multi, void *easy) { return curl.multi_add_handle(multi, easy); }
int ccurl_multi_remove_handle(void *multi, void *easy) { return curl.multi_remove_handle(multi, easy); }
int ccurl_multi_perform(void *multi, int *running) { return curl.multi_perform(multi, running); }
int ccurl_multi_poll(void *multi, int timeout_ms) { return curl.multi_poll(multi, 0, 0, timeout_ms, 0); }
int ccurl_multi_wakeup(void *multi) { return curl.multi_wakeup(multi); }
int ccurl_multi_timeout(void *multi, long *timeout_ms) { return curl.multi_timeout(multi, timeout_ms); }

void *ccurl_multi_next_done(void *multi, int *result) {
    int left;
    struct message *message;
    while ((message = curl.multi_info_read(multi, &left))) {
        if (message->msg == 1 /* CURLMSG_DONE */) {
            *result = message->data.result;
            return message->easy;
        }
    }
    return 0;
}

#endif
