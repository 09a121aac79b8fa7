public import Foundation
internal import Interceptors
internal import InterceptorsSyntax

/// The digest that a downloaded file must have.
///
/// ```swift
/// try await api.download("/film.mp4", to: file, expecting: .sha256("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"))
/// ```
public struct DownloadDigest: Sendable, Hashable {
    let algorithm: Algorithm
    /// The digest, or `nil` if the input isn't one.
    let bytes: [UInt8]?

    /// - Parameter bytes: as many bytes as the algorithm's digests have.
    init(_ algorithm: Algorithm, _ bytes: [UInt8]) {
        self.algorithm = algorithm
        self.bytes = bytes.count == algorithm.size ? bytes : nil
    }

    /// - Parameter hexadecimal: digits in either case.
    init(_ algorithm: Algorithm, hexadecimal: String) {
        let digits = hexadecimal.utf8.compactMap(ASCII.hexadecimalValue)
        let isDigest = digits.count == 2 * algorithm.size && hexadecimal.utf8.count == digits.count
        let pairs = stride(from: 0, to: isDigest ? digits.count : 0, by: 2)
        self.init(algorithm, pairs.map { digits[$0] << 4 | digits[$0 + 1] })
    }

    /// A SHA-256 digest of 32 bytes. With another number of bytes the download fails before anything is sent.
    public static func sha256(_ bytes: Data) -> Self { Self(.sha256, Array(bytes)) }

    /// A SHA-256 digest of 64 hexadecimal digits, in either case. With any other text the download fails before anything is
    /// sent.
    public static func sha256(_ hexadecimal: String) -> Self { Self(.sha256, hexadecimal: hexadecimal) }

    /// A SHA-512 digest of 64 bytes. With another number of bytes the download fails before anything is sent.
    public static func sha512(_ bytes: Data) -> Self { Self(.sha512, Array(bytes)) }

    /// A SHA-512 digest of 128 hexadecimal digits, in either case. With any other text the download fails before anything is
    /// sent.
    public static func sha512(_ hexadecimal: String) -> Self { Self(.sha512, hexadecimal: hexadecimal) }
}

extension DownloadDigest {
    /// The algorithms that RFC 9530 §5 calls active.
    enum Algorithm: String, Sendable {
        case sha256 = "SHA-256"
        case sha512 = "SHA-512"

        /// The number of bytes of a digest.
        var size: Int { self == .sha256 ? 32 : 64 }

        var ofMessages: MessageDigest.Algorithm { self == .sha256 ? .sha256 : .sha512 }
    }

    /// The digest in hexadecimal; empty if the input isn't a digest.
    var hexadecimal: String { (bytes ?? []).hexadecimal }
}

extension DownloadDigest: CustomStringConvertible {
    /// The algorithm, and the digest in hexadecimal.
    public var description: String {
        bytes == nil ? "no \(algorithm.rawValue) digest" : "\(algorithm.rawValue.lowercased()) \(hexadecimal)"
    }
}

extension HTTPFields {
    /// The digest of the whole content that the server announces in `Repr-Digest`, if that content is what the body holds.
    ///
    /// The digest is of the content with its codings (RFC 9530 §3), and a transport may have decoded the body. `Content-Length`
    /// is missing then.
    var announcedDigest: DownloadDigest? {
        guard contains(.reprDigest), contains(.contentLength), !ContentDecoding.isCoded(self),
            let digests = DigestField(self[values: .reprDigest].joined(separator: ","))
        else { return nil }
        return digests.sha256.map { DownloadDigest(.sha256, $0) } ?? digests.sha512.map { DownloadDigest(.sha512, $0) }
    }
}
