public import Foundation

extension TLSConfiguration {
    /// Requires the public key of one of a bundle's certificates in the chain of every host.
    ///
    /// ```swift
    /// let transport: some Transport = .platform(tls: .pinned(certificatesIn: .main))
    /// ```
    /// Equivalent to ``pinned(certificatesIn:trust:)-(URL,_)`` with the bundle's resource folder.
    public static func pinned(certificatesIn bundle: Bundle, trust: TLSTrust = .system) -> Self {
        pinned(certificatesIn: bundle.resourceURL ?? bundle.bundleURL, trust: trust)
    }

    /// Requires the public key of one of a folder's certificates in the chain of every host.
    ///
    /// The certificates are those of ``CertificatePin/publicKeys(inFolder:)``. If that throws, for instance because the folder
    /// contains no certificate, a transport with these settings sends nothing, and each call fails with
    /// ``HTTPErrorCode/unsupported`` and the reason. Missing files never disable pinning.
    ///
    /// - Parameters:
    ///   - folder: the folder; its subfolders don't count.
    ///   - trust: the trusted roots. By default the system's.
    public static func pinned(certificatesIn folder: URL, trust: TLSTrust = .system) -> Self {
        do {
            return pinned(try CertificatePin.publicKeys(inFolder: folder), trust: trust)
        } catch {
            let failure = error as? TransportError ?? TransportError(.notACertificate, "\(error)")
            return pinned(
                [CertificatePin(invalid: "the certificates in \(folder.path)", because: failure)],
                trust: trust
            )
        }
    }
}

extension CertificatePin {
    private static let extensions: Set = ["cer", "crt", "der"]

    /// The public key pins of all certificates in a folder: the files `*.cer`, `*.crt` and `*.der`, in DER or PEM.
    ///
    /// Subfolders don't count. The pins come in the order of the files' names.
    ///
    /// - Throws: ``TransportError`` with ``HTTPErrorCode/unreadableFile`` if the folder can't be read or
    ///   contains no such file, and with ``HTTPErrorCode/notACertificate`` if one of the files isn't a
    ///   certificate.
    public static func publicKeys(inFolder folder: URL) throws -> [CertificatePin] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path) else {
            throw TransportError(
                .unreadableFile,
                "The folder \(folder.path), which should hold certificates, can't be read."
            )
        }
        let files = names.filter { extensions.contains(($0 as NSString).pathExtension.lowercased()) }.sorted()
        guard !files.isEmpty else {
            throw TransportError(
                .unreadableFile,
                "The folder \(folder.path) holds no certificate: no file ends with .cer, .crt or .der. In Xcode, add the files to"
                    + " the target's Copy Bundle Resources."
            )
        }
        var pins: [CertificatePin] = []
        for certificate in try files.flatMap({ try TLSCertificate.all(in: folder.appendingPathComponent($0)) })
        where !pins.contains(certificate.publicKeyPin) {
            pins.append(certificate.publicKeyPin)
        }
        return pins
    }
}
