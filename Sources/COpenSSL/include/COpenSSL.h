// A thin shim over the system's OpenSSL 3, without logic. It is loaded at run time, so that building needs no headers.
// Each cossl_X is OpenSSL's X with the same parameters; its objects are untyped pointers. Call cossl_load first; if it doesn't
// return NULL, call nothing else.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Loads libssl and libcrypto once. Returns NULL, or a static text that says why they can't be used.
const char *cossl_load(void);
// The address of a function in the loaded libssl. Comparing it shows whether another library uses the same libssl.
void *cossl_symbol(const char *name);
// EVP_PKEY_Q_keygen for an elliptic curve ("P-256"), for RSA, and for types without parameters ("ED25519").
void *cossl_generate_ec_key(const char *curve);
void *cossl_generate_rsa_key(size_t bits);
void *cossl_generate_key(const char *type);
// X509V3_EXT_conf_nid in the context of an issuer and a subject.
void *cossl_make_extension(void *issuer, void *subject, int nid, const char *value);
// Creates an ex_data index of SSL_CTX. Calls the function with each value when its SSL_CTX is freed.
int cossl_ssl_context_index(void (*release)(void *value));

typedef int (*cossl_verify_callback)(void *store_context, void *argument);
typedef int (*cossl_password_callback)(char *buffer, int size, int for_writing, void *argument);

#define COSSL_CRYPTO_FUNCTIONS(F) \
    F(unsigned long, OpenSSL_version_num, (void), ()) \
    F(const char *, OpenSSL_version, (int what), (what)) \
    F(unsigned long, ERR_get_error, (void), ()) \
    F(void, ERR_clear_error, (void), ()) \
    F(void, ERR_error_string_n, (unsigned long code, char *text, size_t size), (code, text, size)) \
    F(const char *, ERR_reason_error_string, (unsigned long code), (code)) \
    /* Certificates */ \
    F(void *, d2i_X509, (void **object, const unsigned char **der, long size), (object, der, size)) \
    F(int, i2d_X509, (const void *certificate, unsigned char **der), (certificate, der)) \
    F(void *, X509_new, (void), ()) \
    F(void, X509_free, (void *certificate), (certificate)) \
    F(int, X509_up_ref, (void *certificate), (certificate)) \
    F(int, X509_check_private_key, (const void *certificate, const void *key), (certificate, key)) \
    F(void *, X509_get_subject_name, (const void *certificate), (certificate)) \
    F(int, X509_set_version, (void *certificate, long version), (certificate, version)) \
    F(int, X509_set_pubkey, (void *certificate, void *key), (certificate, key)) \
    F(int, X509_set_issuer_name, (void *certificate, const void *name), (certificate, name)) \
    F(void *, X509_get_serialNumber, (void *certificate), (certificate)) \
    F(void *, X509_getm_notBefore, (const void *certificate), (certificate)) \
    F(void *, X509_getm_notAfter, (const void *certificate), (certificate)) \
    F(int, X509_add_ext, (void *certificate, void *extension, int location), (certificate, extension, location)) \
    F(void, X509_EXTENSION_free, (void *extension), (extension)) \
    F(int, X509_sign, (void *certificate, void *key, const void *digest), (certificate, key, digest)) \
    F(int, X509_NAME_add_entry_by_txt, (void *name, const char *field, int type, const unsigned char *bytes, int size, int location, int set), (name, field, type, bytes, size, location, set)) \
    F(int, ASN1_INTEGER_set_int64, (void *integer, int64_t value), (integer, value)) \
    F(void *, ASN1_TIME_set, (void *time, long seconds), (time, seconds)) \
    /* Verification of a chain */ \
    F(const char *, X509_verify_cert_error_string, (long code), (code)) \
    F(void *, X509_STORE_new, (void), ()) \
    F(void, X509_STORE_free, (void *store), (store)) \
    F(int, X509_STORE_add_cert, (void *store, void *certificate), (store, certificate)) \
    F(int, X509_STORE_set_flags, (void *store, unsigned long flags), (store, flags)) \
    F(int, X509_STORE_set_default_paths, (void *store), (store)) \
    F(int, X509_STORE_load_locations, (void *store, const char *file, const char *folder), (store, file, folder)) \
    F(void *, X509_STORE_CTX_new, (void), ()) \
    F(void, X509_STORE_CTX_free, (void *context), (context)) \
    F(int, X509_STORE_CTX_init, (void *context, void *store, void *leaf, void *untrusted), (context, store, leaf, untrusted)) \
    F(int, X509_STORE_CTX_set_default, (void *context, const char *name), (context, name)) \
    F(void *, X509_STORE_CTX_get0_cert, (const void *context), (context)) \
    F(void *, X509_STORE_CTX_get0_untrusted, (const void *context), (context)) \
    F(void *, X509_STORE_CTX_get0_chain, (const void *context), (context)) \
    F(void *, X509_STORE_CTX_get_ex_data, (const void *context, int index), (context, index)) \
    F(int, X509_STORE_CTX_get_error, (const void *context), (context)) \
    F(int, X509_STORE_CTX_get_error_depth, (const void *context), (context)) \
    F(void, X509_STORE_CTX_set_error, (void *context, int code), (context, code)) \
    F(void *, X509_STORE_CTX_get0_param, (const void *context), (context)) \
    F(int, X509_VERIFY_PARAM_get_auth_level, (const void *parameters), (parameters)) \
    F(void, X509_VERIFY_PARAM_set_auth_level, (void *parameters, int level), (parameters, level)) \
    F(int, X509_verify_cert, (void *context), (context)) \
    F(void *, X509_get_ext_d2i, (const void *certificate, int nid, int *critical, int *index), (certificate, nid, critical, index)) \
    F(int, X509_check_host, (void *certificate, const char *name, size_t length, unsigned int flags, char **match), (certificate, name, length, flags, match)) \
    F(int, X509_check_ip_asc, (void *certificate, const char *address, unsigned int flags), (certificate, address, flags)) \
    F(void, GENERAL_NAMES_free, (void *names), (names)) \
    F(int, OPENSSL_sk_num, (const void *stack), (stack)) \
    F(void *, OPENSSL_sk_value, (const void *stack, int index), (stack, index)) \
    F(void *, OPENSSL_sk_new_null, (void), ()) \
    F(int, OPENSSL_sk_push, (void *stack, const void *value), (stack, value)) \
    F(void, OPENSSL_sk_free, (void *stack), (stack)) \
    /* Keys, digests, signatures */ \
    F(void *, d2i_AutoPrivateKey, (void **object, const unsigned char **der, long size), (object, der, size)) \
    F(void *, d2i_PUBKEY, (void **object, const unsigned char **der, long size), (object, der, size)) \
    F(int, i2d_PUBKEY, (const void *key, unsigned char **der), (key, der)) \
    F(void *, EVP_PKEY2PKCS8, (const void *key), (key)) \
    F(int, i2d_PKCS8_PRIV_KEY_INFO, (const void *info, unsigned char **der), (info, der)) \
    F(void, PKCS8_PRIV_KEY_INFO_free, (void *info), (info)) \
    F(void, EVP_PKEY_free, (void *key), (key)) \
    F(int, EVP_PKEY_get_base_id, (const void *key), (key)) \
    F(int, EVP_PKEY_get_bits, (const void *key), (key)) \
    F(const void *, EVP_sha256, (void), ()) \
    F(const void *, EVP_md5, (void), ()) \
    F(int, EVP_DigestInit_ex, (void *context, const void *type, void *engine), (context, type, engine)) \
    F(int, EVP_DigestUpdate, (void *context, const void *bytes, size_t size), (context, bytes, size)) \
    F(int, EVP_DigestFinal_ex, (void *context, unsigned char *digest, unsigned *digest_size), (context, digest, digest_size)) \
    F(int, EVP_Digest, (const void *bytes, size_t size, unsigned char *digest, unsigned *digest_size, const void *type, void *engine), (bytes, size, digest, digest_size, type, engine)) \
    F(unsigned char *, HMAC, (const void *type, const void *key, int key_size, const unsigned char *bytes, size_t size, unsigned char *digest, unsigned *digest_size), (type, key, key_size, bytes, size, digest, digest_size)) \
    F(void *, EVP_MD_CTX_new, (void), ()) \
    F(void, EVP_MD_CTX_free, (void *context), (context)) \
    F(int, EVP_DigestVerifyInit, (void *context, void **key_context, const void *type, void *engine, void *key), (context, key_context, type, engine, key)) \
    F(int, EVP_DigestVerify, (void *context, const unsigned char *signature, size_t signature_size, const unsigned char *bytes, size_t size), (context, signature, signature_size, bytes, size)) \
    F(int, EVP_DigestSignInit, (void *context, void **key_context, const void *type, void *engine, void *key), (context, key_context, type, engine, key)) \
    F(int, EVP_DigestSign, (void *context, unsigned char *signature, size_t *signature_size, const unsigned char *bytes, size_t size), (context, signature, signature_size, bytes, size)) \
    /* PEM and PKCS#12 */ \
    F(void *, BIO_new_mem_buf, (const void *bytes, int size), (bytes, size)) \
    F(int, BIO_free, (void *bio), (bio)) \
    F(void *, PEM_read_bio_PrivateKey, (void *bio, void **key, cossl_password_callback password, void *argument), (bio, key, password, argument)) \
    F(void *, d2i_PKCS12, (void **object, const unsigned char **der, long size), (object, der, size)) \
    F(int, i2d_PKCS12, (const void *object, unsigned char **der), (object, der)) \
    F(int, PKCS12_parse, (void *object, const char *password, void **key, void **certificate, void **others), (object, password, key, certificate, others)) \
    F(int, PKCS12_verify_mac, (void *object, const char *password, int size), (object, password, size)) \
    F(void *, PKCS12_create, (const char *password, const char *name, void *key, void *certificate, void *others, int key_nid, int certificate_nid, int rounds, int mac_rounds, int key_type), (password, name, key, certificate, others, key_nid, certificate_nid, rounds, mac_rounds, key_type)) \
    F(void, PKCS12_free, (void *object), (object))

#define COSSL_SSL_FUNCTIONS(F) \
    F(const void *, TLS_server_method, (void), ()) \
    F(void *, SSL_CTX_new, (const void *method), (method)) \
    F(void, SSL_CTX_free, (void *context), (context)) \
    F(long, SSL_CTX_ctrl, (void *context, int command, long number, void *pointer), (context, command, number, pointer)) \
    F(int, SSL_CTX_use_certificate, (void *context, void *certificate), (context, certificate)) \
    F(int, SSL_CTX_use_PrivateKey, (void *context, void *key), (context, key)) \
    F(void, SSL_CTX_set_verify, (void *context, int mode, void *callback), (context, mode, callback)) \
    F(void, SSL_CTX_set_cert_verify_callback, (void *context, cossl_verify_callback callback, void *argument), (context, callback, argument)) \
    F(void, SSL_CTX_set_cert_store, (void *context, void *store), (context, store)) \
    F(int, SSL_CTX_set_session_id_context, (void *context, const unsigned char *bytes, unsigned size), (context, bytes, size)) \
    F(int, SSL_CTX_set_ex_data, (void *context, int index, void *value), (context, index, value)) \
    F(int, SSL_get_ex_data_X509_STORE_CTX_idx, (void), ()) \
    F(const char *, SSL_get_servername, (const void *ssl, int type), (ssl, type)) \
    F(void, SSL_get0_alpn_selected, (const void *ssl, const unsigned char **name, unsigned *size), (ssl, name, size)) \
    F(void *, SSL_new, (void *context), (context)) \
    F(void, SSL_free, (void *ssl), (ssl)) \
    F(int, SSL_set_fd, (void *ssl, int descriptor), (ssl, descriptor)) \
    F(void, SSL_set_accept_state, (void *ssl), (ssl)) \
    F(int, SSL_read, (void *ssl, void *bytes, int size), (ssl, bytes, size)) \
    F(int, SSL_write, (void *ssl, const void *bytes, int size), (ssl, bytes, size)) \
    F(int, SSL_shutdown, (void *ssl), (ssl)) \
    F(int, SSL_get_error, (const void *ssl, int result), (ssl, result)) \
    F(int, SSL_is_init_finished, (const void *ssl), (ssl)) \
    F(uint64_t, SSL_CTX_clear_options, (void *context, uint64_t options), (context, options)) \
    F(uint64_t, SSL_CTX_get_options, (const void *context), (context)) \
    F(int, SSL_has_pending, (const void *ssl), (ssl)) \
    F(int, SSL_get_shutdown, (const void *ssl), (ssl)) \
    F(int, SSL_session_reused, (const void *ssl), (ssl)) \
    F(int, SSL_version, (const void *ssl), (ssl)) \
    F(const void *, SSL_get_current_cipher, (const void *ssl), (ssl)) \
    F(uint16_t, SSL_CIPHER_get_protocol_id, (const void *cipher), (cipher))

#define COSSL_DECLARE(result, name, parameters, arguments) result cossl_##name parameters;
COSSL_CRYPTO_FUNCTIONS(COSSL_DECLARE)
COSSL_SSL_FUNCTIONS(COSSL_DECLARE)
#undef COSSL_DECLARE

enum cossl_number {
    COSSL_EVP_PKEY_RSA = 6,
    COSSL_EVP_PKEY_EC = 408,
    COSSL_EVP_PKEY_ED25519 = 1087,

    COSSL_NID_subject_key_identifier = 82,
    COSSL_NID_key_usage = 83,
    COSSL_NID_subject_alt_name = 85,
    COSSL_X509_CHECK_FLAG_NEVER_CHECK_SUBJECT = 0x20,
    COSSL_NID_basic_constraints = 87,
    COSSL_NID_authority_key_identifier = 90,
    COSSL_NID_ext_key_usage = 126,

    COSSL_MBSTRING_UTF8 = 0x1000,

    COSSL_X509_V_OK = 0,
    COSSL_X509_V_ERR_APPLICATION_VERIFICATION = 50,
    COSSL_X509_V_ERR_HOSTNAME_MISMATCH = 62,
    COSSL_GEN_DNS = 2,
    COSSL_GEN_IPADD = 7,
    COSSL_SSL_OP_IGNORE_UNEXPECTED_EOF = 0x80,
    COSSL_SSL_OP_DONT_INSERT_EMPTY_FRAGMENTS = 0x800,
    COSSL_X509_V_FLAG_PARTIAL_CHAIN = 0x80000,

    COSSL_SSL_CTRL_EXTRA_CHAIN_CERT = 14,
    COSSL_SSL_CTRL_CHAIN_CERT = 89,
    COSSL_SSL_CTRL_SET_MIN_PROTO_VERSION = 123,
    COSSL_SSL_CTRL_SET_MAX_PROTO_VERSION = 124,
    COSSL_SSL_CTRL_MODE = 33,
    COSSL_SSL_MODE_ENABLE_PARTIAL_WRITE = 1,
    COSSL_SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER = 2,

    COSSL_SSL_VERIFY_PEER = 1,
    COSSL_SSL_VERIFY_FAIL_IF_NO_PEER_CERT = 2,

    COSSL_SSL_RECEIVED_SHUTDOWN = 2,
    COSSL_SSL_ERROR_WANT_READ = 2,
    COSSL_SSL_ERROR_WANT_WRITE = 3,
    COSSL_SSL_ERROR_ZERO_RETURN = 6,
};
