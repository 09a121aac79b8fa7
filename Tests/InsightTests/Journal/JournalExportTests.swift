import Foundation
import InterceptorsTesting
import Testing

@testable import InterceptorsInsight

/// A journal's own calls in its files.
@Suite(.againstHanging) struct JournalExportTests {
    private func entry(_ journal: Journal) throws -> [String: Any] {
        let har = try JSONSerialization.jsonObject(with: journal.har()) as? [String: [String: Any]]
        return try #require((har?["log"]?["entries"] as? [[String: Any]])?.first)
    }

    @Test func theArchiveHasTheTransportsTimingsAndConnection() async throws {
        let fixture = JournalFixture([Pass()]) { _ in
            var response = HTTPResponse(status: 204)
            response.context.timings = TransferTimings(
                nameLookup: .milliseconds(1),
                connect: .milliseconds(2),
                tls: .milliseconds(4),
                firstByte: .milliseconds(8),
                total: .milliseconds(16),
                reusedConnection: false
            )
            response.context.connection = HTTPConnectionInfo(
                httpVersion: .http2,
                remoteAddress: "2001:db8::1",
                remotePort: 8_443
            )
            return response
        }
        try await fixture.send()
        let entry = try entry(fixture.journal)
        let timings = try #require(entry["timings"] as? [String: Double])
        #expect(
            timings == ["blocked": -1, "dns": 1, "connect": 3, "ssl": 2, "send": 0, "wait": 4, "receive": 8]
        )
        #expect(entry["serverIPAddress"] as? String == "2001:db8::1" && entry["connection"] as? String == "8443")
        #expect((entry["response"] as? [String: Any])?["httpVersion"] as? String == "HTTP/2")
        let step = fixture.journal.calls.first?.attempts.first
        #expect(step?.httpVersion == "HTTP/2" && step?.remoteAddress == "2001:db8::1" && step?.remotePort == 8_443)
    }

    @Test(arguments: [true, false])
    func filesWithSecretsSaySo(_ isRedacted: Bool) async throws {
        let journal = Journal(redaction: isRedacted ? .standard : nil)
        let chain = InterceptorChain([], transport: StubTransport { _ in HTTPResponse(status: 204) }, observer: journal)
        var request = try HTTPRequest(string: "https://a.example/?access_token=s3cr3t-1")
        request.headers[.authorization] = "Bearer s3cr3t-2"
        request.headers[.cookie] = "session=s3cr3t-3"
        request.body = HTTPBody(Data(#"{"password":"s3cr3t-4"}"#.utf8))
        request.headers[.contentType] = "application/json"
        _ = try await chain.send(request)
        let files = [journal.har(), journal.page()].map { String(decoding: $0, as: UTF8.self) }
        for file in files {
            #expect((1...4).count { file.contains("s3cr3t-\($0)") } == (isRedacted ? 0 : 4))
        }
        #expect(files.allSatisfy { $0.contains(HARFile.warning) == !isRedacted })
        #expect(files[0].contains(#""_isRedacted":\#(isRedacted)"#))
    }

    @Test func anEmptyJournalMakesWholeFiles() throws {
        let har = try JSONSerialization.jsonObject(with: Journal().har()) as? [String: [String: Any]]
        #expect((har?["log"]?["entries"] as? [Any])?.isEmpty == true)
        #expect(String(decoding: Journal().page(), as: UTF8.self).contains("Journal: 0 calls"))
    }
}
