#include "COpenSSL.h"

// Android has __linux__ too, but not these libraries.
#if defined(__linux__) && !defined(__ANDROID__)

#include <dlfcn.h>
#include <pthread.h>

#define DECLARE(result, name, parameters, arguments) result(*name) parameters;
static struct {
    COSSL_CRYPTO_FUNCTIONS(DECLARE)
    COSSL_SSL_FUNCTIONS(DECLARE)
    void *(*EVP_PKEY_Q_keygen)(void *library, const char *properties, const char *type, ...);
    void *(*X509V3_EXT_conf_nid)(void *configuration, void *context, int nid, const char *value);
    void (*X509V3_set_ctx)(void *context, void *issuer, void *subject, void *request, void *revoked, int flags);
    int (*CRYPTO_get_ex_new_index)(int kind, long number, void *pointer, void *make, void *copy, void *release);
} openssl;
#undef DECLARE

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *load_error = 0;
static void *ssl_library = 0;

static void load(void) {
    void *crypto = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
    void *ssl = crypto ? dlopen("libssl.so.3", RTLD_NOW | RTLD_LOCAL) : 0;
    if (!ssl) {
        load_error = "OpenSSL 3 (libssl.so.3, libcrypto.so.3) was not found: install it "
                     "(Debian, Ubuntu: libssl3; Fedora: openssl-libs)";
        return;
    }
#define RESOLVE(library, name) \
    *(void **)&openssl.name = dlsym(library, #name); \
    if (!openssl.name) { \
        load_error = "this build of OpenSSL has no " #name; \
        return; \
    }
#define RESOLVE_CRYPTO(result, name, parameters, arguments) RESOLVE(crypto, name)
#define RESOLVE_SSL(result, name, parameters, arguments) RESOLVE(ssl, name)
    COSSL_CRYPTO_FUNCTIONS(RESOLVE_CRYPTO)
    COSSL_SSL_FUNCTIONS(RESOLVE_SSL)
    RESOLVE(crypto, EVP_PKEY_Q_keygen)
    RESOLVE(crypto, X509V3_EXT_conf_nid)
    RESOLVE(crypto, X509V3_set_ctx)
    RESOLVE(crypto, CRYPTO_get_ex_new_index)
#undef RESOLVE_SSL
#undef RESOLVE_CRYPTO
#undef RESOLVE
    ssl_library = ssl;
}

const char *cossl_load(void) {
    pthread_once(&once, load);
    return load_error;
}

void *cossl_symbol(const char *name) { return dlsym(ssl_library, name); }

#define DEFINE(result, name, parameters, arguments) \
    result cossl_##name parameters { return openssl.name arguments; }
COSSL_CRYPTO_FUNCTIONS(DEFINE)
COSSL_SSL_FUNCTIONS(DEFINE)
#undef DEFINE

void *cossl_generate_ec_key(const char *curve) { return openssl.EVP_PKEY_Q_keygen(0, 0, "EC", curve); }
void *cossl_generate_rsa_key(size_t bits) { return openssl.EVP_PKEY_Q_keygen(0, 0, "RSA", bits); }
void *cossl_generate_key(const char *type) { return openssl.EVP_PKEY_Q_keygen(0, 0, type); }

void *cossl_make_extension(void *issuer, void *subject, int nid, const char *value) {
    // An X509V3_CTX, which takes 64 bytes, with room for what later versions may add.
    void *context[32] = {0};
    openssl.X509V3_set_ctx(context, issuer, subject, 0, 0, 0);
    return openssl.X509V3_EXT_conf_nid(0, context, nid, value);
}

static void (*release_value)(void *) = 0;

static void release_ex_data(void *parent, void *value, void *all, int index, long number, void *pointer) {
    if (value) { release_value(value); }
}

int cossl_ssl_context_index(void (*release)(void *value)) {
    release_value = release;
    return openssl.CRYPTO_get_ex_new_index(1 /* CRYPTO_EX_INDEX_SSL_CTX */, 0, 0, 0, 0, (void *)release_ex_data);
}

#endif
