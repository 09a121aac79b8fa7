import Testing

@testable import InterceptorsTransfers

@Suite(.againstHanging) struct DigestFieldTests {
    private let short = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
    private let long = String(repeating: "A", count: 86) + "=="

    @Test func theDigestIsFoundAmongOthers() {
        for text in [
            "sha-256=:\(short):", " sha-256=:\(short): ", "sha-512=:YQ==:,sha-256=:\(short):",
            "sha-256=:\(short):;q=1, md5=:YQ==:",
            "sha-256=:YQ==:, sha-256=:\(short):",
        ] {
            #expect(DigestField(text)?.sha256 == [UInt8](repeating: 0, count: 32), "\(text)")
        }
    }

    @Test func aDigestOfAnotherLengthDoesNotCount() {
        for text in [
            "", "md5=:YQ==:", "sha-256=:YQ==:", "sha-512=:\(short):", "sha-256=:\(long):",
            "sha-256=:\(short):, sha-256=:YQ==:",
        ] {
            let field = DigestField(text)
            #expect(field != nil && field?.sha256 == nil, "\(text)")
        }
    }

    @Test func anythingElseIsNoDictionaryOfBytes() {
        for text in [
            "sha-256", "sha-256=", "sha-256=\(short)", "sha-256=:\(short)", "sha-256=:?:", "sha-256=:\(short):, x",
            "=:\(short):", ",sha-256=:\(short):",
        ] {
            #expect(DigestField(text) == nil, "\(text)")
        }
    }
}
