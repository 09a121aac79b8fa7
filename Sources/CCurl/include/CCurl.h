// A thin shim over the system's libcurl, without logic. It is loaded at run time, so that building needs no headers.
// The numbers are libcurl's ABI, which never changes. A test compares them with curl's headers, if they are installed.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Loads libcurl once. Returns NULL, or a static text that says why it can't be used.
const char *ccurl_load(void);
// Returns the reason why the library at a path can't be used; NULL if it can. For tests.
const char *ccurl_problem(const char *path);
// libcurl's version as text ("7.88.1") and number (0x075801), and the text of its TLS library.
const char *ccurl_version(void);
unsigned ccurl_version_number(void);
const char *ccurl_ssl_version(void);
int ccurl_features(void);
// The address of a function in libcurl or in a library that it uses, such as its TLS library; NULL if no library has it.
void *ccurl_symbol(const char *name);

// Starts a detached thread. Returns 0, or the errno of the failure.
typedef void *(*ccurl_thread_body)(void *context);
int ccurl_thread_start(size_t stack_size, ccurl_thread_body body, void *context);
// Names the calling thread. Swift doesn't import pthread_setname_np. Linux keeps 15 bytes.
int ccurl_name_thread(const char *name);

void *ccurl_easy_init(void);
void ccurl_easy_cleanup(void *easy);
void ccurl_easy_reset(void *easy);
int ccurl_easy_pause(void *easy, int bitmask);
const char *ccurl_easy_strerror(int code);
int ccurl_easy_setopt_long(void *easy, int option, long value);
int ccurl_easy_setopt_int64(void *easy, int option, int64_t value);
int ccurl_easy_setopt_pointer(void *easy, int option, const void *value);
int ccurl_easy_getinfo_long(void *easy, int info, long *value);
int ccurl_easy_getinfo_int64(void *easy, int info, int64_t *value);
int ccurl_easy_getinfo_pointer(void *easy, int info, void **value);

// libcurl's list of texts. libcurl only reads the list of a request's fields, which the caller frees.
typedef struct ccurl_list {
    char *text;
    struct ccurl_list *next;
} ccurl_list;

typedef size_t (*ccurl_data_callback)(char *bytes, size_t size, size_t count, void *context);
typedef int (*ccurl_prerequest_callback)(void *context, char *address, char *local, int port, int local_port);
typedef int (*ccurl_ssl_context_callback)(void *easy, void *ssl_context, void *context);
typedef int (*ccurl_socket_callback)(void *context, int socket, int purpose);
// The beginning of libcurl's curl_sockaddr: the address itself follows.
typedef struct ccurl_address {
    int family;
    int type;
    int protocol;
    unsigned length;
} ccurl_address;
typedef int (*ccurl_progress_callback)(void *context, int64_t a, int64_t b, int64_t c, int64_t d);
typedef int (*ccurl_open_callback)(void *context, int purpose, ccurl_address *address);
typedef int (*ccurl_close_callback)(void *context, int socket);
int ccurl_easy_setopt_data_callback(void *easy, int option, ccurl_data_callback callback);
int ccurl_easy_setopt_prerequest_callback(void *easy, ccurl_prerequest_callback callback);
int ccurl_easy_setopt_ssl_context_callback(void *easy, ccurl_ssl_context_callback callback);
int ccurl_easy_setopt_socket_callback(void *easy, ccurl_socket_callback callback);
int ccurl_easy_setopt_progress_callback(void *easy, ccurl_progress_callback callback);
int ccurl_easy_setopt_open_callback(void *easy, ccurl_open_callback callback);
int ccurl_easy_setopt_close_callback(void *easy, ccurl_close_callback callback);
// OpenSSL's SSL object of the transfer's connection; NULL without TLS, or if libcurl uses another TLS library.
void *ccurl_easy_ssl(void *easy);

// A parsed URL, for several transfers with the same URL.
void *ccurl_url_init(void);
void ccurl_url_cleanup(void *url);
// Whether libcurl can read the text.
bool ccurl_url_set(void *url, const char *text, int flags);

void *ccurl_multi_init(void);
int ccurl_multi_cleanup(void *multi);
int ccurl_multi_setopt_long(void *multi, int option, long value);
int ccurl_multi_add_handle(void *multi, void *easy);
int ccurl_multi_remove_handle(void *multi, void *easy);
int ccurl_multi_perform(void *multi, int *running);
int ccurl_multi_poll(void *multi, int timeout_ms);
int ccurl_multi_wakeup(void *multi);
int ccurl_multi_timeout(void *multi, long *timeout_ms);
// The next finished transfer with its result, or NULL.
void *ccurl_multi_next_done(void *multi, int *result);

enum ccurl_option {
    CCURLOPT_WRITEDATA = 10001,
    CCURLOPT_URL = 10002,
    CCURLOPT_PROXY = 10004,
    CCURLOPT_READDATA = 10009,
    CCURLOPT_ERRORBUFFER = 10010,
    CCURLOPT_WRITEFUNCTION = 20011,
    CCURLOPT_READFUNCTION = 20012,
    CCURLOPT_POSTFIELDS = 10015,
    CCURLOPT_HTTPHEADER = 10023,
    CCURLOPT_HEADERDATA = 10029,
    CCURLOPT_CUSTOMREQUEST = 10036,
    CCURLOPT_NOPROGRESS = 43,
    CCURLOPT_XFERINFODATA = 10057,
    CCURLOPT_XFERINFOFUNCTION = 20219,
    CCURLOPT_NOBODY = 44,
    CCURLOPT_UPLOAD = 46,
    CCURLOPT_POST = 47,
    CCURLOPT_FOLLOWLOCATION = 52,
    CCURLOPT_SSL_VERIFYPEER = 64,
    CCURLOPT_CAINFO = 10065,
    CCURLOPT_FRESH_CONNECT = 74,
    CCURLOPT_PATH_AS_IS = 234,
    CCURLOPT_MAXREDIRS = 68,
    CCURLOPT_FORBID_REUSE = 75,
    CCURLOPT_HEADERFUNCTION = 20079,
    CCURLOPT_HTTPGET = 80,
    CCURLOPT_SSL_VERIFYHOST = 81,
    CCURLOPT_HTTP_VERSION = 84,
    CCURLOPT_BUFFERSIZE = 98,
    CCURLOPT_NOSIGNAL = 99,
    CCURLOPT_CAPATH = 10097,
    CCURLOPT_ACCEPT_ENCODING = 10102,
    CCURLOPT_PRIVATE = 10103,
    CCURLOPT_SSL_CTX_FUNCTION = 20108,
    CCURLOPT_SSL_CTX_DATA = 10109,
    CCURLOPT_INFILESIZE_LARGE = 30115,
    CCURLOPT_POSTFIELDSIZE_LARGE = 30120,
    CCURLOPT_TCP_NODELAY = 121,
    CCURLOPT_SOCKOPTFUNCTION = 20148,
    CCURLOPT_SOCKOPTDATA = 10149,
    CCURLOPT_OPENSOCKETFUNCTION = 20163,
    CCURLOPT_OPENSOCKETDATA = 10164,
    CCURLOPT_CLOSESOCKETFUNCTION = 20208,
    CCURLOPT_CLOSESOCKETDATA = 10209,
    CCURLOPT_SSL_SESSIONID_CACHE = 150,
    CCURLOPT_CONNECTTIMEOUT_MS = 156,
    CCURLOPT_HTTP_TRANSFER_DECODING = 157,
    CCURLOPT_HTTP_CONTENT_DECODING = 158,
    CCURLOPT_NOPROXY = 10177,
    CCURLOPT_PROTOCOLS = 181,
    CCURLOPT_SSLVERSION = 32,
    CCURLOPT_PIPEWAIT = 237,
    CCURLOPT_PROXY_SSLVERSION = 250,
    CCURLOPT_PROXY_SSL_OPTIONS = 261,
    CCURLOPT_SUPPRESS_CONNECT_HEADERS = 265,
    CCURLOPT_CURLU = 10282,
    CCURLOPT_QUICK_EXIT = 322,
    CCURLOPT_UPLOAD_BUFFERSIZE = 280,
    CCURLOPT_PREREQFUNCTION = 20312,
    CCURLOPT_PREREQDATA = 10313,
};

enum ccurl_multi_option {
    CCURLMOPT_MAXCONNECTS = 6,
    CCURLMOPT_MAX_HOST_CONNECTIONS = 7,
    CCURLMOPT_MAX_TOTAL_CONNECTIONS = 13,
    CCURLMOPT_PIPELINING = 3,
};

enum ccurl_info {
    CCURLINFO_RESPONSE_CODE = 0x200000 + 2,
    CCURLINFO_REQUEST_SIZE = 0x200000 + 12,
    CCURLINFO_SIZE_DOWNLOAD_T = 0x600000 + 8,
    CCURLINFO_SSL_VERIFYRESULT = 0x200000 + 13,
    CCURLINFO_HTTP_CONNECTCODE = 0x200000 + 22,
    CCURLINFO_PRIVATE = 0x100000 + 21,
    CCURLINFO_OS_ERRNO = 0x200000 + 25,
    CCURLINFO_NUM_CONNECTS = 0x200000 + 26,
    CCURLINFO_HTTP_VERSION = 0x200000 + 46,
    CCURLINFO_PRIMARY_IP = 0x100000 + 32,
    CCURLINFO_PRIMARY_PORT = 0x200000 + 40,
    CCURLINFO_TLS_SSL_PTR = 0x400000 + 45,
    CCURLINFO_TOTAL_TIME_T = 0x600000 + 50,
    CCURLINFO_NAMELOOKUP_TIME_T = 0x600000 + 51,
    CCURLINFO_CONNECT_TIME_T = 0x600000 + 52,
    CCURLINFO_PRETRANSFER_TIME_T = 0x600000 + 53,
    CCURLINFO_STARTTRANSFER_TIME_T = 0x600000 + 54,
    CCURLINFO_APPCONNECT_TIME_T = 0x600000 + 56,
    CCURLINFO_CONTENT_LENGTH_DOWNLOAD_T = 0x600000 + 15,
};

enum ccurl_code {
    CCURLE_OK = 0,
    CCURLE_UNSUPPORTED_PROTOCOL = 1,
    CCURLE_URL_MALFORMAT = 3,
    CCURLE_COULDNT_RESOLVE_PROXY = 5,
    CCURLE_COULDNT_RESOLVE_HOST = 6,
    CCURLE_COULDNT_CONNECT = 7,
    CCURLE_WEIRD_SERVER_REPLY = 8,
    CCURLE_HTTP2 = 16,
    CCURLE_PARTIAL_FILE = 18,
    CCURLE_WRITE_ERROR = 23,
    CCURLE_READ_ERROR = 26,
    CCURLE_OUT_OF_MEMORY = 27,
    CCURLE_OPERATION_TIMEDOUT = 28,
    CCURLE_SSL_CONNECT_ERROR = 35,
    CCURLE_ABORTED_BY_CALLBACK = 42,
    CCURLE_BAD_FUNCTION_ARGUMENT = 43,
    CCURLE_TOO_MANY_REDIRECTS = 47,
    CCURLE_GOT_NOTHING = 52,
    CCURLE_SSL_ENGINE_NOTFOUND = 53,
    CCURLE_SEND_ERROR = 55,
    CCURLE_RECV_ERROR = 56,
    CCURLE_SSL_CERTPROBLEM = 58,
    CCURLE_SSL_CIPHER = 59,
    CCURLE_PEER_FAILED_VERIFICATION = 60,
    CCURLE_BAD_CONTENT_ENCODING = 61,
    CCURLE_SEND_FAIL_REWIND = 65,
    CCURLE_SSL_CACERT_BADFILE = 77,
    CCURLE_SSL_PINNEDPUBKEYNOTMATCH = 90,
    CCURLE_SSL_INVALIDCERTSTATUS = 91,
    CCURLE_HTTP2_STREAM = 92,
    CCURLE_PROXY = 97,
    CCURLE_SSL_CLIENTCERT = 98,
};

enum ccurl_value {
    CCURL_WRITEFUNC_PAUSE = 0x10000001,
    CCURL_READFUNC_PAUSE = 0x10000001,
    CCURL_READFUNC_ABORT = 0x10000000,
    CCURL_PREREQFUNC_OK = 0,
    CCURL_SOCKOPT_OK = 0,
    CCURL_PREREQFUNC_ABORT = 1,
    CCURLU_PATH_AS_IS = 1 << 4,
    CCURLU_NON_SUPPORT_SCHEME = 1 << 3,
    CCURLU_GUESS_SCHEME = 1 << 9,
    CCURLSSLOPT_ALLOW_BEAST = 1,
    CCURLPAUSE_CONT = 0,
    CCURLPAUSE_RECV = 1,
    CCURLPAUSE_SEND = 4,
    CCURL_HTTP_VERSION_1_0 = 1,
    CCURL_HTTP_VERSION_1_1 = 2,
    CCURL_HTTP_VERSION_2_0 = 3,
    CCURL_HTTP_VERSION_2TLS = 4,
    CCURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE = 5,
    CCURL_HTTP_VERSION_3 = 30,
    CCURLPROTO_HTTP = 1,
    CCURLPROTO_HTTPS = 2,
    CCURL_VERSION_HTTP2 = 1 << 16,
    CCURL_SSLVERSION_TLSv1_2 = 6,
    CCURL_SSLVERSION_TLSv1_3 = 7,
};
