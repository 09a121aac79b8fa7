import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

@testable import InterceptorsMiddlewares

/// A cache discards a stream that nobody will read, because the stream holds a connection. It stores only streams that were
/// read to their end.
@Suite(.againstHanging) struct CacheStreamTests {
    private let world = CacheWorld()

    /// A response with a stream of one chunk. The stream ends, without an error, when it is discarded.
    private final class Source: Sendable {
        let discards = Tally()
        private let response: Mutex<HTTPResponse>

        init(_ status: HTTPResponse.Status, _ lines: [String] = []) {
            let (chunks, feed) = AsyncStream.makeStream(of: Data.self)
            feed.yield(Data("part".utf8))
            let discards = discards
            let body = HTTPBody.oneShot(chunks) {
                discards.count()
                feed.finish()
            }
            response = Mutex(HTTPResponse(status: status, headers: fields(lines), body: body))
        }

        func sent() -> HTTPResponse { response.withLock(\.self) }
    }

    /// Stores the body `one` with an entity tag, and waits until it is stale.
    private func storeStale(_ directives: String = "max-age=5") async throws {
        world.answer(["Cache-Control: \(directives)", "ETag: \"1\""], "one")
        _ = try await world.send()
        world.advance(10)
    }

    private func send(_ answers: Source..., streamed: Bool = true) async throws -> (HTTPResponse, [Int]) {
        let count = Tally()
        let discarded = Mutex<[Int]>([])
        let transport = Recorder { _ in
            // The number of streams discarded before this attempt.
            discarded.withLock { $0.append(answers.reduce(0) { $0 + $1.discards.value }) }
            return answers[count.count() - 1].sent()
        }
        let chain = InterceptorChain([world.cache], transport: transport)
        let response = try await chain.send(world.request(streamed: streamed))
        return (response, discarded.withLock { $0 })
    }

    @Test func streamOfA304IsDiscardedWhenTheStoredResponseIsServed() async throws {
        try await storeStale()
        let unchanged = Source(304, ["ETag: \"1\""])
        let (response, _) = try await send(unchanged)
        #expect(response.context.cacheOutcome?.result == .revalidated)
        #expect(try await response.body.collect(upTo: 10) == Data("one".utf8))
        #expect(unchanged.discards.value == 1)
    }

    @Test func streamOfAFailureIsDiscardedWhenAStaleResponseIsServed() async throws {
        try await storeStale("max-age=5, stale-if-error=60")
        let failure = Source(503)
        let (response, _) = try await send(failure)
        #expect(response.context.cacheOutcome?.result == .stale)
        #expect(try await response.body.collect(upTo: 10) == Data("one".utf8))
        #expect(failure.discards.value == 1)
    }

    @Test func streamOfA304WithAnUnknownTagIsDiscardedBeforeTheRequestIsSentAgain() async throws {
        try await storeStale()
        let (unchanged, whole) = (Source(304, ["ETag: \"2\""]), Source(200))
        let (response, discarded) = try await send(unchanged, whole)
        #expect(discarded == [0, 1])
        #expect(response.status == 200)
        #expect(whole.discards.value == 0)
        response.body.discard()
        #expect(whole.discards.value == 1)
    }

    @Test func streamThatItsReaderDiscardsIsDiscardedAtItsSourceAndNotStored() async throws {
        let source = Source(200, ["Cache-Control: max-age=60"])
        let (response, _) = try await send(source)
        #expect(response.context.cacheOutcome?.storing == .stored)
        var chunks = response.body.makeAsyncIterator()
        #expect(try await chunks.next() == Data("part".utf8))
        response.body.discard()
        // Otherwise the next read would wait forever.
        try #require(source.discards.value == 1)
        // The source ends without an error.
        #expect(try await chunks.next() == nil)
        #expect(try await world.entries().isEmpty)
    }

    @Test func streamThatIsReadToItsEndIsStoredAndNotDiscarded() async throws {
        let chunks = AsyncStream<Data> { feed in
            for text in ["one", " ", "two"] { feed.yield(Data(text.utf8)) }
            feed.finish()
        }
        let discards = Tally()
        let transport = Recorder { _ in
            HTTPResponse(
                status: 200,
                headers: [.cacheControl: "max-age=60"],
                body: .oneShot(chunks) { discards.count() }
            )
        }
        let chain = InterceptorChain([world.cache], transport: transport)
        let response = try await chain.send(world.request(streamed: true))
        #expect(try await world.entries().isEmpty)
        #expect(try await response.body.collect(upTo: 100) == Data("one two".utf8))
        #expect(try await world.entries().map(\.length) == [7])
        #expect(discards.value == 0)
    }
}
