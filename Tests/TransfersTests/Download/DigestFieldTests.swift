import InterceptorsCore
import Testing

@testable import InterceptorsTransfers

/// The value of `Repr-Digest` (RFC 9530 §3).
@Suite(.againstHanging) struct DigestFieldTests {
    private func digest(_ text: String) -> DownloadDigest? {
        ([.reprDigest: text, .contentLength: "3"] as HTTPFields).announcedDigest
    }

    private let short = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
    private let long = String(repeating: "A", count: 86) + "=="

    @Test func theDigestIsFoundAmongOthers() {
        for text in [
            "sha-256=:\(short):", " sha-256=:\(short): ", "sha-512=:YQ==:,sha-256=:\(short):",
            "sha-256=:\(short):;q=1, md5=:YQ==:",
            "sha-256=:YQ==:, sha-256=:\(short):",
        ] {
            #expect(digest(text) == DownloadDigest([UInt8](repeating: 0, count: 32)), "\(text)")
        }
    }

    @Test func aDigestOfAnotherLengthDoesNotCount() {
        for text in [
            "", "md5=:YQ==:", "sha-256=:YQ==:", "sha-512=:\(short):", "sha-256=:\(long):",
            "sha-256=:\(short):, sha-256=:YQ==:",
        ] {
            #expect(digest(text) == nil, "\(text)")
        }
    }

    @Test func anythingElseIsNoDictionaryOfBytes() {
        for text in [
            "sha-256", "sha-256=", "sha-256=\(short)", "sha-256=:\(short)", "sha-256=:?:", "sha-256=:\(short):, x",
            "=:\(short):", ",sha-256=:\(short):",
        ] {
            #expect(digest(text) == nil, "\(text)")
        }
    }
}
