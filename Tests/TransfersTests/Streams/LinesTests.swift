import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import Testing

private struct Row: Codable, Sendable, Hashable { var id: Int }

@Suite(.againstHanging) struct LinesTests {
    private let stub = StubTransport()

    private func stream(
        _ chunks: String...,
        type: String? = "application/x-ndjson",
        thenFailing error: (any Error)? = nil
    )
        -> StubAnswer
    {
        .stream(chunks.map { Data($0.utf8) }, thenFailing: error, headers: type.map { [.contentType: $0] } ?? [:])
    }

    private func rows(upTo limit: Int = 1 << 20) -> Lines<Row> {
        makeClient(stub).lines("/export", as: Row.self, upTo: limit)
    }

    private func all<Value>(_ lines: Lines<Value>) async throws -> [Value] {
        var values: [Value] = []
        for try await value in lines { values.append(value) }
        return values
    }

    @Test(arguments: ["application/x-ndjson", "application/jsonl; charset=utf-8", "text/plain", nil])
    func eachLineIsAValue(type: String?) async throws {
        stub.enqueue(stream("{\"id\":1}\n\n{\"i", "d\":2}\r\n", "{\"id\":3}", type: type))
        #expect(try await all(rows()) == [Row(id: 1), Row(id: 2), Row(id: 3)])
        #expect(stub.openBodies == 0)
        let request = try #require(stub.requests.first)
        #expect(request.context.responseBody == .streamed)
        #expect(request.headers[.accept]?.contains("application/jsonl") == true)
    }

    @Test func linesOfTextAreAsTheyAre() async throws {
        stub.enqueue(stream("\"a\"\n\nb\r\n", type: "text/plain"), stream("a\n\nb", type: "text/plain"))
        #expect(try await all(makeClient(stub).lines("/log", as: String.self)) == ["\"a\"", "", "b"])
        let lines = makeClient(stub).lines("/log", as: Data.self)
        #expect(try await all(lines) == [Data("a".utf8), Data(), Data("b".utf8)])
        #expect(stub.requests.first?.headers[.accept] == nil)
    }

    @Test func optionalDataIsDecodedAndNotRaw() async throws {
        stub.enqueue(stream("\"YQ==\"\nnull\n"))
        #expect(try await all(makeClient(stub).lines("/log", as: Data?.self)) == [Data("a".utf8), nil])
    }

    @Test func onlyTheFirstLineHasAByteOrderMark() async throws {
        stub.enqueue(stream("\u{FEFF}\u{FEFF}a\n\u{FEFF}b\n", type: "text/plain"))
        let lines = try await all(makeClient(stub).lines("/log", as: String.self))
        #expect(lines.map { Array($0.unicodeScalars) } == [["\u{FEFF}", "a"], ["\u{FEFF}", "b"]])
        let bytes: [UInt8] = [UInt8(ascii: "a"), 0x0A, 0xFF, 0xFE, UInt8(ascii: "b"), 0x0A]
        stub.enqueue(.stream([Data(bytes)], headers: [.contentType: "text/plain; charset=iso-8859-1"]))
        #expect(try await all(makeClient(stub).lines("/log", as: String.self)) == ["a", "ÿþb"])
    }

    @Test(arguments: ["utf-16", "UTF-16LE", "\"utf-32\""])
    func aCharsetWithWideUnitsIsRefused(charset: String) async throws {
        for type in ["text/plain", "application/x-ndjson"] {
            stub.enqueue(stream("a\n", type: "\(type); charset=\(charset)"))
            let lines = makeClient(stub).lines("/log", as: String.self)
            let failure = await #expect(throws: ResponseDecodingError.self) { try await all(lines) }
            #expect(failure?.code == .unexpectedMediaType)
            #expect(failure?.message.contains("UTF-8") == true)
            #expect(stub.openBodies == 0)
        }
    }

    @Test(arguments: [
        [0xFF, 0xFE, 0x61, 0, 0x0A, 0], [0xFE, 0xFF, 0, 0x61, 0, 0x0A], [0, 0, 0xFE, 0xFF, 0, 0, 0, 0x0A],
    ])
    func aMarkOfWideUnitsIsRefused(bytes: [UInt8]) async throws {
        stub.enqueue(.stream([Data(bytes)], headers: [.contentType: "text/plain"]))
        let failure = await #expect(throws: ResponseDecodingError.self) {
            try await all(makeClient(stub).lines("/log", as: String.self))
        }
        #expect(failure?.code == .unexpectedMediaType)
    }

    @Test func aLineIsDeliveredBeforeTheNextBegins() async throws {
        let reads = Tally()
        let chunks = (1...3).map { "{\"id\":\($0)}\n" }
        stub.enqueue(
            .answer { request in
                HTTPResponse(
                    status: 200,
                    headers: [.contentType: "application/x-ndjson"],
                    body: .oneShot(Chunks(chunks, reads: reads)),
                    url: request.url
                )
            }
        )
        var iterator = rows().makeAsyncIterator()
        for count in 1...3 {
            #expect(try await iterator.next() == Row(id: count))
            #expect(reads.value == count)
        }
    }

    @Test func aCompleteLinePrecedesTheErrorOfALostConnection() async throws {
        let lost = TransportError(.connectionLost, "Lost.")
        stub.enqueue(stream("{\"id\":1}\n", thenFailing: lost))
        var iterator = rows().makeAsyncIterator()
        #expect(try await iterator.next() == Row(id: 1))
        await #expect(throws: TransportError.self) { try await iterator.next() }
    }

    @MainActor
    @Test func emptyLinesDoNotHoldTheCallersActor() async throws {
        let flood = Flood("\n", then: "{\"id\":1}\n")
        stub.enqueue(.answer { HTTPResponse(status: 200, body: .oneShot(flood), url: $0.url) })
        var iterator = rows().makeAsyncIterator()
        #expect(try await iterator.next() == Row(id: 1))
        #expect(!flood.isUsedUp)
    }

    @Test func aFailureNamesItsLineAfterTheValuesBefore() async throws {
        stub.enqueue(stream("{\"id\":1}\n\n{\"id\":\"x\"}\n{\"id\":4}\n"))
        var iterator = rows().makeAsyncIterator()
        #expect(try await iterator.next() == Row(id: 1))
        let failure = await #expect(throws: ResponseDecodingError.self) { try await iterator.next() }
        #expect(failure?.code == .undecodable)
        #expect(failure?.message.contains("in line 3 at id") == true, "\(failure?.message ?? "")")
        #expect(failure?.body == Data(#"{"id":"x"}"#.utf8))
        #expect(try await iterator.next() == nil)
        #expect(stub.openBodies == 0)
    }

    @Test func secretsInALineAreNotInTheFailure() async throws {
        stub.enqueue(stream("{\"id\":\"x\",\"password\":\"hush\"}\n"))
        let failure = await #expect(throws: ResponseDecodingError.self) { try await all(rows()) }
        #expect(failure?.description.contains("hush") == false)
    }

    @Test func aStreamThatBreaksOffIsAnErrorAfterTheValuesBefore() async throws {
        let broken = TransportError(.truncated, "Cut off.")
        stub.enqueue(stream("{\"id\":1}\n{\"id\":2}", thenFailing: broken))
        var iterator = rows().makeAsyncIterator()
        #expect(try await iterator.next() == Row(id: 1))
        let error = await #expect(throws: TransportError.self) { try await iterator.next() }
        #expect(error?.code == .truncated)
        #expect(error?.request?.description.contains("/v1/export") == true)
    }

    @Test func aLineBeyondTheLimitIsAnErrorAfterTheValuesBefore() async throws {
        stub.enqueue(stream("{\"id\":1}\n{\"id\":1234567890}\n"))
        var iterator = rows(upTo: 10).makeAsyncIterator()
        #expect(try await iterator.next() == Row(id: 1))
        let error = await #expect(throws: TransportError.self) { try await iterator.next() }
        #expect(error?.code == .bodyTooLarge)
        #expect(stub.openBodies == 0)
    }

    @Test func anErrorPageIsAnError() async throws {
        stub.enqueue(.status(404, body: "not here"))
        let failure = await #expect(throws: ResponseDecodingError.self) { try await all(rows()) }
        #expect(failure?.code == .unacceptedStatus)
        #expect(failure?.excerpt == "<8 bytes of text>")
    }

    @Test func leavingTheLoopClosesTheConnection() async throws {
        stub.enqueue(stream("{\"id\":1}\n", "{\"id\":2}\n"))
        for try await _ in rows() {
            #expect(stub.openBodies == 1)
            break
        }
        #expect(stub.openBodies == 0)
    }

    @Test func noValueFollowsACancellation() async throws {
        stub.enqueue(stream("{\"id\":1}\n{\"id\":2}\n"))
        let rows = rows()
        let task = Task {
            var iterator = rows.makeAsyncIterator()
            let first = try await iterator.next()
            withUnsafeCurrentTask { $0?.cancel() }
            await #expect(throws: CancellationError.self) { try await iterator.next() }
            return first
        }
        #expect(try await task.value == Row(id: 1))
        #expect(stub.openBodies == 0)
    }

    @Test func chunksAreReadAsValuesAreAskedFor() async throws {
        let reads = Tally()
        let chunks = (1...4).map { "{\"id\":\($0)}\n" }
        stub.enqueue(
            .answer { HTTPResponse(status: 200, body: .oneShot(Chunks(chunks, reads: reads)), url: $0.url) }
        )
        var iterator = rows().makeAsyncIterator()
        for count in 1...3 {
            #expect(try await iterator.next() == Row(id: count))
            #expect(reads.value == count)
        }
    }

    @Test func observersLearnOfAFailure() async throws {
        stub.enqueue(stream("x\n"))
        let seen = Tally()
        let observing = AnyInterceptor.intercept { request, next in
            var response = try await next(request)
            response.context.observeDecodingErrors { _ in seen.count() }
            return response
        }
        let lines = makeClient(stub, [observing]).lines("/export", as: Row.self)
        await #expect(throws: ResponseDecodingError.self) { try await all(lines) }
        #expect(seen.value == 1)
    }

    @MainActor
    @Test func valuesAreDecodedOffTheCallersActor() async throws {
        struct OffTheMainThread: Decodable, Sendable {
            let isMain: Bool
            init(from decoder: any Decoder) throws { isMain = Thread.isMainThread }
        }
        stub.enqueue(stream("{}\n{}\n"))
        let values = try await all(makeClient(stub).lines("/export", as: OffTheMainThread.self))
        #expect(values.map(\.isMain) == [false, false])
    }

    @Test func anEndpointsRequestHasItsContent() async throws {
        stub.enqueue(stream("{\"id\":1}\n"))
        let search = EndpointRequest<Row>.post("/search", body: .encoded(Row(id: 5)))
        #expect(try await all(makeClient(stub).lines(from: search, as: Row.self)) == [Row(id: 1)])
        #expect(stub.requests.first?.method == .post)
    }
}
