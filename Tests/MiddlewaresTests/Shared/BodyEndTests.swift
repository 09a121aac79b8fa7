import Foundation
import TestSupport
import Testing

@testable import Middlewares

@Suite(.againstHanging) struct BodyEndTests {

    private func body(
        _ chunks: [String],
        failure: (any Error)? = nil,
        length: Int64? = nil,
        _ ends: Tally
    ) -> HTTPBody {
        HTTPBody.oneShot(Chunks(chunks, failure: failure), length: length).onEnd { ends.count() }
    }

    @Test func endOfTheReadingIsToldOnce() async throws {
        let ends = Tally()
        let body = body(["a", "b"], length: 2, ends)
        #expect(body.length == 2)
        #expect(body.isUnreadStream)
        var chunks = body.makeAsyncIterator()
        #expect(try await chunks.next() == Data("a".utf8))
        #expect(try await chunks.next() == Data("b".utf8))
        #expect(ends.value == 0)
        #expect(try await chunks.next() == nil)
        #expect(ends.value == 1)
        body.discard()
        #expect(ends.value == 1)
    }

    @Test func failureIsAnEnd() async throws {
        let ends = Tally()
        let body = body(["a"], failure: Broken(), ends)
        await #expect(throws: Broken.self) { try await body.collect(upTo: 10) }
        #expect(ends.value == 1)
    }

    @Test func discardingIsAnEndAndReachesTheSource() {
        let (ends, discards) = (Tally(), Tally())
        let body = HTTPBody.oneShot(Chunks(["a"]), onDiscard: { discards.count() }).onEnd { ends.count() }
        body.discard()
        body.discard()
        #expect(ends.value == 1)
        #expect(discards.value == 1)
        #expect(!body.isUnreadStream)
    }

    @Test func bodyThatNobodyHoldsHasEnded() async throws {
        let ends = Tally()
        do { _ = body(["a"], ends) }
        #expect(ends.value == 1)
    }

    @Test func readingThatIsGivenUpHasEndedOnceTheBodyIsLetGo() async throws {
        let ends = Tally()
        do {
            let body = body(["a", "b"], ends)
            for try await _ in body { break }
            #expect(ends.value == 0)
            withExtendedLifetime(body) {}
        }
        #expect(ends.value == 1)
    }

    @Test func readingKeepsItOpenWithoutTheBody() async throws {
        let ends = Tally()
        var chunks: HTTPBody.AsyncIterator? = body(["a"], ends).makeAsyncIterator()
        #expect(ends.value == 0)
        #expect(try await chunks?.next() != nil)
        #expect(ends.value == 0)
        chunks = nil
        #expect(ends.value == 1)
    }
}
