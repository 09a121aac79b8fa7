#if os(Linux)
import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct CurlDecodingTests {
    private let server: MockServer
    private let transport = CurlTransport()

    init() throws { server = try MockServer() }

    static let samples = [
        ("gzip", CodedSamples.gzip), ("deflate", CodedSamples.zlib), ("deflate", CodedSamples.rawDeflate),
        ("br", CodedSamples.brotli), ("zstd", CodedSamples.zstd), ("gzip, br", CodedSamples.gzipThenBrotli),
    ]

    /// The same content in every framing.
    private static func framings(_ coding: String, _ bytes: Data) -> [StubAnswer] {
        let fields: HTTPFields = [.contentEncoding: coding]
        let pieces = stride(from: 0, to: bytes.count, by: 50).map { bytes[$0..<min($0 + 50, bytes.count)] }
        return [
            StubAnswer.status(200, headers: fields, body: bytes), .stream(pieces.map { Data($0) }, headers: fields),
            .untilClose(bytes, headers: fields),
        ]
    }

    @Test(arguments: samples, [ResponseBodyMode.buffered, .streamed])
    func contentThatEndsTooSoonInItsCodingIsTruncatedInEachFraming(
        sample: (coding: String, bytes: Data),
        mode: ResponseBodyMode
    ) async throws {
        for count in [sample.bytes.count - 1, sample.bytes.count / 2, 1] {
            for response in Self.framings(sample.coding, sample.bytes.prefix(count)) {
                server.enqueue(response)
                let error = try await failure {
                    try await content(of: transport.send(makeRequest(server, responseBody: mode)))
                }
                #expect(error.code == .truncated, "\(count) bytes: \(error)")
            }
        }
    }

    @Test(arguments: samples, [ResponseBodyMode.buffered, .streamed])
    func wholeContentIsDecodedAndLosesItsCodingAndLength(
        sample: (coding: String, bytes: Data),
        mode: ResponseBodyMode
    ) async throws {
        for response in Self.framings(sample.coding, sample.bytes) {
            server.enqueue(response)
            let response = try await transport.send(makeRequest(server, responseBody: mode))
            #expect(try await content(of: response) == CodedSamples.text)
            #expect(response.headers[.contentEncoding] == nil)
            #expect(response.headers[.contentLength] == nil)
        }
    }

    @Test func membersOfGzipAreOneContent() async throws {
        let fields: HTTPFields = [.contentEncoding: "gzip"]
        server.enqueue(.status(200, headers: fields, body: CodedSamples.gzip + CodedSamples.gzip))
        let response = try await transport.send(makeRequest(server))
        #expect(try await content(of: response) == CodedSamples.text + CodedSamples.text)
    }

    @Test(arguments: [ResponseBodyMode.buffered, .streamed])
    func contentInAnUnknownCodingIsHandedOnWithItsField(mode: ResponseBodyMode) async throws {
        server.enqueue(.status(200, headers: [.contentEncoding: "gzip, unheard-of"], body: CodedSamples.gzip))
        let response = try await transport.send(makeRequest(server, responseBody: mode))
        #expect(response.headers[.contentEncoding] == "gzip, unheard-of")
        #expect(try await response.body.collect(upTo: 1 << 20) == CodedSamples.gzip)
    }

    @Test func emptyContentWithACodingIsEmpty() async throws {
        server.enqueue(.status(200, headers: [.contentEncoding: "gzip"], body: ""))
        #expect(try await content(of: transport.send(makeRequest(server))) == "")
    }

    @Test func limitOfAReaderCountsWhatIsDecoded() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("decoded")
        server.on(.get, "/", .status(200, headers: [.contentEncoding: "gzip"], body: CodedSamples.gzip))
        let limit = CodedSamples.text.utf8.count
        #expect(limit > CodedSamples.gzip.count)
        let whole = try await transport.send(makeRequest(server, responseBody: .streamed))
        try await whole.body.write(to: file, upTo: Int64(limit))
        #expect(try String(contentsOf: file, encoding: .utf8) == CodedSamples.text)
        try FileManager.default.removeItem(at: file)
        let longer = try await transport.send(makeRequest(server, responseBody: .streamed))
        let error = try await failure { try await longer.body.write(to: file, upTo: Int64(limit - 1)) }
        #expect(error.code == .bodyTooLarge)
        #expect(!FileManager.default.fileExists(atPath: file.path))
        let buffered = try makeRequest(server, responseBody: .buffered(upTo: limit - 1))
        #expect(try await failure { try await transport.send(buffered) }.code == .bodyTooLarge)
    }
}
#endif
