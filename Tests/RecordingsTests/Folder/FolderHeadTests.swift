import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging) struct FolderHeadTests {
    @Test(arguments: ["a\u{85}b", "a\u{2028}b", "a\u{2029}b", "é\u{301}", "a\tb", "\u{FEFF}a", "🙂", "# x", "", "a: b"])
    func valueIsReadAsItWasWritten(value: String) throws {
        let fields = HTTPFields([
            HTTPField(unchecked: "X-A", value), HTTPField(unchecked: "X-A", value), HTTPField(unchecked: "#", value),
        ])
        let head = FolderHead(status: 404, headers: fields)
        #expect(try FolderHead(head.data(comment: "GET \u{85}\u{2028}\n")) == head)
    }

    @Test(arguments: ["\n", "\r\n"]) func lineEndsWithALineFeed(end: String) throws {
        let text = ["\u{FEFF}# a comment", "HTTP/1.1 201 Created", "X-A: 1\u{B}2", "", " \t", "X-B:2", "#"]
        let bytes = Data(text.joined(separator: end).utf8)
        // A vertical tab is no line break, but no field has one.
        #expect(throws: FolderHead.Malformed(line: 3, reason: "A field reads like \"Content-Type: text/plain\".")) {
            try FolderHead(bytes)
        }
        let fine = Data(text.joined(separator: end).replacing("\u{B}", with: "").utf8)
        #expect(try FolderHead(fine) == FolderHead(status: 201, headers: ["X-A": "12", "X-B": "2"]))
    }

    @Test func otherTextThanUTF8IsRefused() throws {
        let bytes = Data("X-A: caf".utf8) + [0xE9]
        #expect(throws: FolderHead.Malformed.self) { try FolderHead(bytes) }
    }

    /// Transports read octets that aren't UTF-8 as ISO 8859-1, in which 0x85 is a line break of Unicode.
    @Test func valueInAnotherCharsetIsRecordedAndPlayed() async throws {
        let server = try MockServer()
        let value = "caf\u{E9} \u{85}"
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: ".utf8
        server.enqueue(.raw(Data(head) + value.unicodeScalars.map { UInt8($0.value) } + Data("\r\n\r\nhi".utf8)))
        let folder = TemporaryFolder.absent()
        let chain = InterceptorChain([.record(to: folder.url)], transport: PlatformTransport())
        let sent = HTTPRequest(url: server.url.appending(path: "a"))
        #expect(try await chain.send(sent).headers["X-A"] == value)
        #expect(try await StubTransport.files(in: folder.url).send(sent).headers["X-A"] == value)
    }
}
