import HTTPSyntax
import Testing

@Suite(.againstHanging) struct DigestFieldTests {
    private let zeros = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    @Test func theDigestIsFoundAmongOthers() {
        for text in [
            "sha-256=:\(zeros):", " sha-256=:\(zeros): ", "sha-512=:YQ==:,sha-256=:\(zeros):",
            "sha-256=:\(zeros):;q=1, md5=:YQ==:",
            "sha-256=:YQ==:, sha-256=:\(zeros):",
        ] {
            #expect(DigestField.sha256(in: text) == [UInt8](repeating: 0, count: 32), "\(text)")
        }
    }

    @Test func anythingElseIsNoDigest() {
        for text in [
            "", "sha-256", "sha-256=", "sha-256=\(zeros)", "sha-256=:\(zeros)", "sha-256=:YQ==:", "sha-256=:?:",
            "sha-512=:\(zeros):",
            "sha-256=:\(zeros):, x", "=:\(zeros):", "sha-256=:\(zeros):, sha-256=:YQ==:", ",sha-256=:\(zeros):",
        ] {
            #expect(DigestField.sha256(in: text) == nil, "\(text)")
        }
    }
}
