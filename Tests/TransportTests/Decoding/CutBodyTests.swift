#if os(Linux)
import Foundation
import InterceptorsTesting
import InterceptorsTransport
import Testing

#if canImport(InterceptorsURLSession)
import InterceptorsURLSession
#endif

/// Content whose connection ends at any of its bytes, in each coding and framing. The result is the whole content or an
/// error, never a part that passes for the whole.
@Suite(.againstHanging, .heavy) struct CutBodyTests {
    struct Coding: Sendable, CustomTestStringConvertible {
        let name: String
        let field: String
        let bytes: Data
        var testDescription: String { name }

        /// The text in the first bytes of the content, if these bytes are complete content. Otherwise `nil`.
        func wholeText(of count: Int) -> String? {
            if count == bytes.count { return CodedSamples.shortText }
            if field == "identity" { return String(CodedSamples.shortText.prefix(count)) }
            if count == 0 { return "" }
            guard name == "two members", count == CodedSamples.firstMember.end else { return nil }
            return String(CodedSamples.shortText.prefix(CodedSamples.firstMember.length))
        }
    }

    static let identity = Coding(name: "identity", field: "identity", bytes: Data(CodedSamples.shortText.utf8))
    static let codings = [
        identity, Coding(name: "gzip", field: "gzip", bytes: CodedSamples.shortGzip),
        Coding(name: "two members", field: "gzip", bytes: CodedSamples.shortMembers),
        Coding(name: "deflate", field: "deflate", bytes: CodedSamples.shortZlib),
        Coding(name: "raw deflate", field: "deflate", bytes: CodedSamples.shortRawDeflate),
        Coding(name: "br", field: "br", bytes: CodedSamples.shortBrotli),
        Coding(name: "zstd", field: "zstd", bytes: CodedSamples.shortZstd),
    ]

    enum Framing: String, CaseIterable, Sendable {
        case length, chunks, close

        /// The response's bytes: its head, and the content in this framing.
        func message(_ coding: Coding) -> (head: String, content: Data) {
            let start = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding.field)\r\n"
            switch self {
            case .length: return (start + "Content-Length: \(coding.bytes.count)\r\n\r\n", coding.bytes)
            case .close: return (start + "Connection: close\r\n\r\n", coding.bytes)
            case .chunks:
                var content = Data()
                for start in stride(from: 0, to: coding.bytes.count, by: 30) {
                    let chunk = coding.bytes[start..<min(start + 30, coding.bytes.count)]
                    content += Data("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Data("\r\n".utf8)
                }
                return (start + "Transfer-Encoding: chunked\r\n\r\n", content + Data("0\r\n\r\n".utf8))
            }
        }
    }

    /// Sends the response cut at each byte of its content, and checks each result.
    private static func cut(
        _ coding: Coding,
        _ framing: Framing,
        _ mode: ResponseBodyMode,
        over transport: any Transport
    ) async throws {
        let (head, bytes) = framing.message(coding)
        let server = try MockServer()
        server.on(.get, "/*") { request in
            let count = Int(request.path.dropFirst()) ?? 0
            return StubAnswer(steps: [.send(Data(head.utf8) + bytes.prefix(count)), .close])
        }
        for count in 0...bytes.count {
            let outcome: Result<String, any Error>
            do {
                let response = try await transport.send(makeRequest(server, "/\(count)", responseBody: mode))
                outcome = .success(try await content(of: response))
            } catch {
                outcome = .failure(error)
            }
            let place = "\(coding.name), \(framing), cut at \(count) of \(bytes.count): \(outcome)"
            switch outcome {
            case .success(let text):
                // With this framing only the connection's end marks the end. If the content is complete by then, the
                // cut can't be noticed.
                let expected = framing == .close ? coding.wholeText(of: count) : CodedSamples.shortText
                #expect(text == expected, "\(place)")
            case .failure(let error):
                #expect(count < bytes.count, "\(place)")
                #expect((error as? TransportError)?.code == .truncated, "\(place)")
            }
        }
        server.stop()
    }

    @Test(arguments: codings, Framing.allCases)
    func contentCutAtAnyByteIsAnErrorOrWhole(coding: Coding, framing: Framing) async throws {
        let transport = CurlTransport()
        for mode in [ResponseBodyMode.buffered, .streamed] {
            try await Self.cut(coding, framing, mode, over: transport)
        }
        await transport.shutDown()
    }

    // On Linux, URLSessionTransport asks for no coding, because Foundation doesn't notice incomplete coded content.
    @Test(arguments: Framing.allCases)
    func contentOfURLSessionCutAtAnyByteIsAnErrorOrWhole(framing: Framing) async throws {
        let transport = URLSessionTransport()
        for mode in [ResponseBodyMode.buffered, .streamed] {
            try await Self.cut(Self.identity, framing, mode, over: transport)
        }
    }
}
#endif
