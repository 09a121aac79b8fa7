internal import Foundation

#if canImport(Security)
internal import Security
#endif

/// The platform library's judgment of whether bytes are a certificate.
enum PlatformCertificate {
    static func isValid(_ der: Data) throws -> Bool {
        #if canImport(Security)
        return SecCertificateCreateWithData(nil, der as CFData) != nil
        #elseif os(Linux)
        try OpenSSLLibrary.load()
        return OpenSSLObject.certificate(der) != nil
        #else
        throw TransportError(.unsupported, "Certificates can't be read on this platform.")
        #endif
    }
}
