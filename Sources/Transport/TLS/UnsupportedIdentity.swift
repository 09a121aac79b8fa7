#if !canImport(Security) && !os(Linux)
internal import Foundation

extension ClientIdentity {
    /// No transport of this package can present a certificate on this platform, so no identity can be created.
    struct Storage: Sendable, Hashable {
        let subject: String
        let certificate = Data()

        init(pkcs12 archive: Data, password: String) throws { throw Self.unsupported }

        init(certificates: [TLSCertificate], privateKey: Data, password: String?) throws { throw Self.unsupported }

        private static var unsupported: TransportError {
            TransportError(.unsupported, "Client identities can't be used on this platform.")
        }
    }
}
#endif
