#if os(Linux)
internal import Foundation

/// The file with the certificates that the system trusts.
struct CertificateBundle: Sendable {
    /// `nil` if none of the usual files can be read.
    let path: String?

    /// The file that `SSL_CERT_FILE` names, or the first readable one of the distributions' usual files.
    static let system: Self = {
        let named = ProcessInfo.processInfo.environment["SSL_CERT_FILE"]
        let usual = [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
            "/etc/ssl/cert.pem",
        ]
        return Self(path: named ?? usual.first { FileManager.default.isReadableFile(atPath: $0) })
    }()
}
#endif
