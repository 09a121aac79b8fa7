public import Foundation
internal import Interceptors
internal import InterceptorsSyntax

/// The SHA-256 digest that a downloaded file must have.
///
/// ```swift
/// try await api.download("/film.mp4", to: file, expecting: .sha256("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"))
/// ```
public struct DownloadDigest: Sendable, Hashable {
    /// The digest, or `nil` if the input isn't one.
    let bytes: [UInt8]?

    init(_ bytes: [UInt8]) { self.bytes = bytes.count == 32 ? bytes : nil }

    /// A digest of 32 bytes. With another number of bytes the download fails before anything is sent.
    public static func sha256(_ bytes: Data) -> Self { Self(Array(bytes)) }

    /// A digest of 64 hexadecimal digits, in either case. With any other text the download fails before anything is sent.
    public static func sha256(_ hexadecimal: String) -> Self {
        let digits = hexadecimal.utf8.compactMap(ASCII.hexadecimalValue)
        guard digits.count == 64, hexadecimal.utf8.count == 64 else { return Self([]) }
        return Self(stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }

    /// The digest in hexadecimal; empty if the input isn't a digest.
    var hexadecimal: String { (bytes ?? []).hexadecimal }
}

extension DownloadDigest: CustomStringConvertible {
    /// The algorithm, and the digest in hexadecimal.
    public var description: String { bytes == nil ? "no SHA-256 digest" : "sha-256 \(hexadecimal)" }
}

extension HTTPFields {
    /// The digest of the whole content that the server announces in `Repr-Digest`, if that content is what the body holds.
    ///
    /// The digest is of the content with its codings (RFC 9530 §3), and a transport may have decoded the body. `Content-Length`
    /// is missing then.
    var announcedDigest: DownloadDigest? {
        guard contains(.reprDigest), contains(.contentLength), !ContentDecoding.isCoded(self),
            let members = StructuredField.dictionary(self[values: .reprDigest].joined(separator: ",")),
            members.values.allSatisfy(\.isBytes), case .bytes(let bytes) = members["sha-256"], bytes.count == 32
        else { return nil }
        return DownloadDigest(bytes)
    }
}

extension StructuredField.Value {
    fileprivate var isBytes: Bool { if case .bytes = self { true } else { false } }
}
