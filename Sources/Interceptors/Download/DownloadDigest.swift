public import Foundation
internal import HTTPSyntax

/// The digest that a downloaded file must have.
///
/// ```swift
/// try await api.download("/film.mp4", to: file, expecting: .sha256("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"))
/// ```
public struct DownloadDigest: Sendable, Hashable {
    /// The 32 bytes, or `nil` if the input isn't a digest.
    let bytes: [UInt8]?

    /// A SHA-256 digest of 32 bytes. With another number of bytes the download fails before anything is sent.
    public static func sha256(_ bytes: Data) -> Self { Self(bytes: bytes.count == 32 ? Array(bytes) : nil) }

    /// A SHA-256 digest of 64 hexadecimal digits, in either case. With any other text the download fails before anything is
    /// sent.
    public static func sha256(_ hexadecimal: String) -> Self {
        let digits = hexadecimal.utf8.compactMap(ASCII.hexadecimalValue)
        guard digits.count == 64, hexadecimal.utf8.count == 64 else { return Self(bytes: nil) }
        return Self(bytes: stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }
}

extension DownloadDigest: CustomStringConvertible {
    /// The digest in hexadecimal.
    public var description: String { bytes.map { "sha-256 \($0.hexadecimal)" } ?? "no SHA-256 digest" }
}
