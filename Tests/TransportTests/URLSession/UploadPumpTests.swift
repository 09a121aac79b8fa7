import Foundation
import InterceptorsTestSupport
import Synchronization
import Testing

@testable import InterceptorsTransport

#if canImport(InterceptorsURLSession)
@testable import InterceptorsURLSession
#endif

// The pump fills the stream that URLSession reads from on Apple platforms. A sink takes the stream's place here.
@Suite(.againstHanging) struct UploadPumpTests {
    private final class Sink: UploadSink {
        private struct State {
            var written = Data()
            var isClosed = false
        }

        private let room: Int
        private let onWrite: @Sendable () -> Void
        private let state = Mutex(State())

        init(room: Int = .max, onWrite: @escaping @Sendable () -> Void = {}) {
            self.room = room
            self.onWrite = onWrite
        }

        var written: Data { state.withLock(\.written) }
        var isClosed: Bool { state.withLock(\.isClosed) }

        func write(_ chunk: Data) async -> Bool {
            defer { onWrite() }
            return state.withLock { state in
                guard state.written.count + chunk.count <= room else { return false }
                state.written += chunk
                return true
            }
        }

        func close() { state.withLock { $0.isClosed = true } }
    }

    @Test func aBodyIsWrittenToItsEndAndTheSinkIsClosed() async {
        let (sink, discards) = (Sink(), Notes<Void>())
        let body = HTTPBody.oneShot(chunks("one", "two")) { discards.add(()) }
        #expect(await UploadPump.fill(sink, from: body) == nil)
        #expect(sink.written == Data("onetwo"))
        #expect(sink.isClosed)
        #expect(discards.all.isEmpty)
    }

    /// This happens when the server answers early or URLSession sends the request again. It doesn't end the call.
    @Test func aSinkThatTakesNoMoreFailsNothingAndTheRestIsGivenUp() async {
        let (sink, discards) = (Sink(room: 3), Notes<Void>())
        let body = HTTPBody.oneShot(chunks("one", "two", "three")) { discards.add(()) }
        #expect(await UploadPump.fill(sink, from: body) == nil)
        #expect(sink.written == Data("one"))
        #expect(!sink.isClosed)
        #expect(discards.all.count == 1)
    }

    @Test func aRestartableBodyWhoseSinkWasClosedIsWrittenAnewFromItsStart() async {
        let body = HTTPBody.restartable { chunks("one", "two") }
        #expect(await UploadPump.fill(Sink(room: 3), from: body) == nil)
        let sink = Sink()
        #expect(await UploadPump.fill(sink, from: body) == nil)
        #expect(sink.written == Data("onetwo"))
    }

    /// The system asks for the rest if it resumes an upload.
    @Test(arguments: 0...7 as ClosedRange<Int64>) func theRestOfABodyBeginsAtItsOffset(offset: Int64) async throws {
        let starts = Notes<Int64>()
        let seekable = HTTPBody.seekable(length: 7) { start in
            starts.add(start)
            return chunks(String("content".dropFirst(Int(start))))
        }
        for body in [HTTPBody(Data("content")), seekable, .restartable { chunks("con", "te", "", "nt") }] {
            let sink = Sink()
            #expect(await UploadPump.fill(sink, from: body, at: offset) == nil)
            #expect(sink.written == Data("content").dropFirst(Int(offset)))
            #expect(sink.isClosed)
        }
        #expect(starts.all == [offset])
    }

    /// If the stream were closed, a body of unknown length would look complete to the server.
    @Test func aBodyThatCannotBeReadIsAFailureAndIsNotMadeToLookComplete() async {
        let (sink, discards) = (Sink(), Notes<Void>())
        let body = HTTPBody.oneShot(chunks("one", failure: Broken())) { discards.add(()) }
        #expect(await UploadPump.fill(sink, from: body) as? Broken == Broken())
        #expect(sink.written == Data("one"))
        #expect(!sink.isClosed)
        #expect(discards.all.count == 1)
    }

    @Test func aCancelledPumpIsNoFailureAndItsSourceIsEndedAtOnce() async {
        let (source, feed) = AsyncStream.makeStream(of: Data.self)
        let (written, discarded) = (Gate(), Gate())
        feed.yield(Data("one"))
        let sink = Sink { written.open() }
        let body = HTTPBody.oneShot(source) { discarded.open() }
        let filling = Task { await UploadPump.fill(sink, from: body) }
        await written.opened()
        filling.cancel()
        await discarded.opened()
        #expect(await filling.value == nil)
        #expect(!sink.isClosed)
    }
}
