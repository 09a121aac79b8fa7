internal import Foundation

#if canImport(Security)
internal import Security
#endif

/// What the platform's own library takes for a certificate.
enum PlatformCertificate {
    static func isValid(_ der: Data) throws -> Bool {
        #if canImport(Security)
        return SecCertificateCreateWithData(nil, der as CFData) != nil
        #else
        try OpenSSLLibrary.load()
        return OpenSSLObject.certificate(der) != nil
        #endif
    }
}
