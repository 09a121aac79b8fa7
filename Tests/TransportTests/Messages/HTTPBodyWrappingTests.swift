import Foundation
import InterceptorsTestSupport
import Synchronization
import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct HTTPBodyWrappingTests {

    private func body(
        _ chunks: [String],
        failure: (any Error)? = nil,
        length: Int64? = nil,
        _ ends: Tally
    ) -> HTTPBody {
        HTTPBody.oneShot(Chunks(chunks, failure: failure), length: length).onEnd { _ in ends.count() }
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
        let body = HTTPBody.oneShot(Chunks(["a"]), onDiscard: { discards.count() }).onEnd { _ in ends.count() }
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

    @Test func endIsToldWithItsReason() async throws {
        func reason(_ body: HTTPBody, _ use: (HTTPBody) async throws -> Void) async throws -> [(any Error)?] {
            let reasons = Mutex<[(any Error)?]>([])
            do {
                let body = body.onEnd { error in reasons.withLock { $0.append(error) } }
                try? await use(body)
            }
            return reasons.withLock { $0 }
        }
        let read = try await reason(.oneShot(Chunks(["a"]))) { _ = try await $0.collect(upTo: 10) }
        #expect(read.count == 1 && read[0] == nil)
        let broken = try await reason(.oneShot(Chunks(["a"], failure: Broken()))) { _ = try await $0.collect(upTo: 10) }
        #expect(broken.count == 1 && broken[0] is Broken)
        let discarded = try await reason(.oneShot(Chunks(["a"]))) { $0.discard() }
        #expect(discarded.count == 1 && discarded[0] is CancellationError)
        let dropped = try await reason(.oneShot(Chunks(["a"]))) { _ in }
        #expect(dropped.count == 1 && dropped[0] is CancellationError)
    }

    @Test func bodyThatHoldsNoSourceEndsAtOnceAndStaysInMemory() {
        let ends = Tally()
        let body = HTTPBody("content").onEnd { error in
            #expect(error == nil)
            ends.count()
        }
        #expect(ends.value == 1)
        #expect(body.data == Data("content".utf8))
    }

    @Test func mappedChunksAreReadAsTheyAreAskedFor() async throws {
        let body = HTTPBody.oneShot(Chunks(["a", "drop", "b"]), length: 6).map { chunk in
            chunk == Data("drop".utf8) ? Data() : chunk + chunk
        }
        #expect(body.length == nil)
        #expect(body.isUnreadStream)
        #expect(try await body.collect(upTo: 10) == Data("aabb".utf8))
        await #expect(throws: TransportError.self) { try await body.collect(upTo: 10) }
    }

    @Test func mappedBodyCanBeReadAgainIfTheFirstCan() async throws {
        let body = HTTPBody("ab").map { Data($0.reversed()) }
        #expect(body.isRestartable)
        for _ in 0..<2 { #expect(try await body.collect(upTo: 10) == Data("ba".utf8)) }
    }

    @Test func discardingAWrappedBodyReachesTheSource() {
        let discards = Tally()
        let source = HTTPBody.oneShot(Chunks(["a"]), onDiscard: { discards.count() })
        source.map { $0 }.wrapped { $0 }.discard()
        #expect(discards.value == 1)
        #expect(!source.isReadable)
    }

    @Test func oneShotBodyOfABodyDiscardsThatBody() {
        let (inner, outer) = (Tally(), Tally())
        let source = HTTPBody.oneShot(Chunks(["a"]), onDiscard: { inner.count() })
        HTTPBody.oneShot(source.map { $0 }, onDiscard: { outer.count() }).discard()
        #expect(inner.value == 1)
        #expect(outer.value == 1)
    }

    @Test func wrappedBodyOfAnnouncedLengthIsChecked() async throws {
        let body = HTTPBody("abc").wrapped(length: 2) { $0 }
        #expect(body.length == 2)
        await #expect(throws: TransportError.self) { try await body.collect(upTo: 10) }
    }

    @Test func errorOfTheClosureEndsTheReading() async throws {
        let discards = Tally()
        let body = HTTPBody.oneShot(Chunks(["a", "b"]), onDiscard: { discards.count() }).map { _ in throw Broken() }
        await #expect(throws: Broken.self) { try await body.collect(upTo: 10) }
        #expect(discards.value == 1)
    }

    @Test func closureThatWaitsMapsABodyToo() async throws {
        @Sendable func waiting(_ chunk: Data) async throws -> Data { chunk + chunk }
        let body = HTTPBody("a").map { try await waiting($0) }
        #expect(try await body.collect(upTo: 10) == Data("aa".utf8))
    }

    @Test func mapToAnotherTypeIsASequence() async throws {
        var counts: [Int] = []
        for try await count in HTTPBody("abc").map({ $0.count }) { counts.append(count) }
        #expect(counts == [3])
    }

    @Test func bodyAroundAUsedUpBodyIsUsedUp() async throws {
        let source = HTTPBody.oneShot(Chunks(["a"]))
        _ = try await source.collect(upTo: 10)
        let body = source.map { $0 }
        #expect(!body.isReadable)
        let error = await #expect(throws: TransportError.self) { try await body.collect(upTo: 10) }
        #expect(error?.code == .bodyNotReplayable)
    }

    @Test func bodyThatCannotBeWrappedIsDiscarded() async throws {
        let discards = Tally()
        let source = HTTPBody.oneShot(Chunks(["a"]), onDiscard: { discards.count() })
        let body = source.wrapped { _ -> HTTPBody in throw Broken() }
        await #expect(throws: Broken.self) { try await body.forEachChunk { _ in } }
        #expect(discards.value == 1)
    }

    @Test func failureOfASourceThatSentNothingIsNotThatOfTheRequest() async throws {
        let refusal = TransportError(.cannotConnect, "The other service is down.")
        let body = HTTPBody.oneShot(Chunks(["a"], failure: refusal))
        let error = await #expect(throws: TransportError.self) { try await body.forEachChunk { _ in } }
        #expect(error?.code == .bodySourceFailed)
        #expect(error?.sentNothing == false)
        #expect((error?.underlying as? TransportError)?.code == .cannotConnect)
    }
}
