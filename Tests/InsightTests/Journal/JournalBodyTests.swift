import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsInsight

@Suite(.againstHanging) struct JournalBodyTests {
    /// A transport that streams chunks, each when the test lets it.
    private struct Streaming: Transport {
        let chunks: AsyncStream<Data>
        let discarded: Tally

        func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
            let discarded = discarded
            return HTTPResponse(status: 200, body: .oneShot(chunks) { discarded.count() }, url: request.url)
        }
    }

    private func streaming(
        _ interceptors: [any Interceptor] = [Pass()]
    ) throws -> (journal: Journal, chain: InterceptorChain, AsyncStream<Data>.Continuation, discarded: Tally) {
        let (chunks, continuation) = AsyncStream.makeStream(of: Data.self)
        let discarded = Tally()
        let journal = Journal()
        let chain = InterceptorChain(
            interceptors,
            transport: Streaming(chunks: chunks, discarded: discarded),
            observer: journal
        )
        return (journal, chain, continuation, discarded)
    }

    @Test func aStreamIsHandedOnBeforeItsEndAndItsSizeFollows() async throws {
        let (journal, chain, source, _) = try streaming([Pass(), AddField()])
        let response = try await chain.send(HTTPRequest(string: "https://a.example/"))
        #expect(journal.calls[0].root?.response?.body == JournalCall.Body(isStream: true, size: nil))
        #expect(response.body.isUnreadStream)
        source.yield(Data("first".utf8))
        var reader = response.body.makeAsyncIterator()
        #expect(try await reader.next() == Data("first".utf8))
        #expect(journal.calls[0].root?.response?.body.size == nil)
        source.yield(Data("second".utf8))
        source.finish()
        while try await reader.next() != nil {}
        let root = try #require(journal.calls[0].root)
        // All steps that passed the stream on know its size.
        #expect(root.response?.body == JournalCall.Body(isStream: true, size: 11))
        #expect(root.steps[0].response?.body.size == 11)
        #expect(journal.calls[0].attempts[0].response?.body.size == 11)
        #expect(journal.calls[0].attempts[0].notes.isEmpty)
    }

    @Test func aDiscardedStreamIsNoted() async throws {
        let (journal, chain, source, discarded) = try streaming()
        let response = try await chain.send(HTTPRequest(string: "https://a.example/"))
        source.yield(Data("first".utf8))
        response.body.discard()
        #expect(discarded.value == 1)
        #expect(journal.calls[0].attempts[0].notes.map(\.decision) == ["bodyDiscarded"])
        #expect(journal.calls[0].root?.response?.body.size == 0)
    }

    @Test func aReleasedStreamLeaksNothing() async throws {
        let (journal, chain, _, _) = try streaming()
        _ = try await chain.send(HTTPRequest(string: "https://a.example/"))
        #expect(journal.calls[0].attempts[0].notes.map(\.decision) == ["bodyDiscarded"])
    }

    @Test func aBodyThatIsNoOneShotStreamStaysAsItIs() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "body")
        try Data("content".utf8).write(to: file)
        let bodies: [HTTPBody] = [
            "text", .empty, try HTTPBody(file: file), .restartable { AsyncStream { $0.finish() } },
        ]
        for body in bodies {
            struct Returning: Transport {
                let body: HTTPBody
                func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
                    HTTPResponse(status: 200, body: body)
                }
            }
            let chain = InterceptorChain([Pass()], transport: Returning(body: body), observer: Journal())
            let response = try await chain.send(HTTPRequest(string: "https://a.example/"))
            #expect(response.body.identity == body.identity)
        }
    }

    @Test func aOneShotUploadIsSentOnceAndUntouched() async throws {
        let fixture = JournalFixture([Pass(), AddField()])
        let reads = Tally()
        try await fixture.send {
            $0.method = .post
            $0.body = .oneShot(Chunks(["a", "b"], reads: reads), length: 2)
        }
        #expect(fixture.stub.requests[0].body.data == Data("ab".utf8))
        #expect(reads.value == 3)
        #expect(fixture.journal.calls[0].root?.request.body == JournalCall.Body(isStream: true, size: 2))
    }

    @Test func onlyTheBeginningOfALongBodyIsKept() async throws {
        let journal = Journal(bodyLimit: 8, redaction: .standard.showingOtherText)
        let stub = StubTransport { _ in HTTPResponse(status: 200, body: "0123456789") }
        let chain = InterceptorChain([], transport: stub, observer: journal)
        _ = try await chain.send(HTTPRequest(string: "https://a.example/"))
        #expect(
            journal.calls[0].root?.response?.body
                == JournalCall.Body(isStream: false, size: 10, text: "01234567", isCut: true)
        )
    }

    /// Nobody can tell a secret in a page.
    @Test func bodiesOfUnknownStructureAreKeptBySize() async throws {
        let journal = Journal()
        let fields: HTTPFields = [.contentType: "text/html"]
        let stub = StubTransport { _ in HTTPResponse(status: 200, headers: fields, body: "<p>") }
        let chain = InterceptorChain([], transport: stub, observer: journal)
        _ = try await chain.send(HTTPRequest(string: "https://a.example/"))
        #expect(journal.calls[0].root?.response?.body == JournalCall.Body(isStream: false, size: 3))
    }

    @Test func withoutALimitForBodiesOnlyTheirSizeIsKept() async throws {
        let journal = Journal(bodyLimit: 0)
        let stub = StubTransport { _ in HTTPResponse(status: 200, body: "0123456789") }
        let chain = InterceptorChain([], transport: stub, observer: journal)
        _ = try await chain.send(HTTPRequest(string: "https://a.example/"))
        #expect(journal.calls[0].root?.response?.body == JournalCall.Body(isStream: false, size: 10))
    }

    @Test func bytesThatAreNoTextAreKeptBySize() async throws {
        let fixture = JournalFixture([]) { _ in HTTPResponse(status: 200, body: HTTPBody(Data([0xFF, 0, 1]))) }
        try await fixture.send()
        #expect(fixture.journal.calls[0].root?.response?.body == JournalCall.Body(isStream: false, size: 3))
    }
}
