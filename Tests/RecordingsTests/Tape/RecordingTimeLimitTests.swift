import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsRecordings

/// The content of a request is read within the request's time limits.
@Suite(.againstHanging) struct RecordingTimeLimitTests {
    private let tape: TapeFile
    private let clock = ManualClock()

    init() throws { tape = try TapeFile() }

    private func request(_ body: HTTPBody, _ timeouts: Timeouts?) throws -> HTTPRequest {
        var request = HTTPRequest(method: .post, url: try tapeURL("/a"), body: body)
        request.context.timeouts = timeouts
        return request
    }

    /// Chunks with a wait before each.
    private func slow(_ chunks: [String], every pause: Duration) -> HTTPBody {
        .restartable { [clock] in
            let rest = Shared(chunks)
            return AsyncThrowingStream<Data, any Error> {
                guard let next = rest.value.first else { return nil }
                try await clock.sleep(for: pause)
                rest.value.removeFirst()
                return Data(next.utf8)
            }
        }
    }

    @Test(
        arguments: [Timeouts(idle: .seconds(5)), Timeouts(idle: nil, total: .seconds(5))],
        [Recording.Mode.all, .none]
    )
    func aContentThatNeverEndsEndsTheCall(timeouts: Timeouts, mode: Recording.Mode) async throws {
        try await tape.record(["/a"], .stub(.text("1")))
        let (silence, end) = AsyncStream.makeStream(of: Data.self)
        defer { end.finish() }
        let recording = tape.recording(mode, time: .manual(clock))
        let request = try request(.oneShot(silence), timeouts)
        let error = try await failure(.timedOut) {
            _ = try await clock.run { try await recording.send(request, over: NoServer()) }
        }
        #expect(error.message.contains("5.0 seconds"), "\(error)")
        #expect(clock.now.elapsed == .seconds(5))
    }

    @Test func aSlowContentThatGoesOnIsNotIdle() async throws {
        let recording = tape.recording(.all, time: .manual(clock))
        let request = try request(slow(["a", "b", "c"], every: .seconds(4)), Timeouts(idle: .seconds(5)))
        let server = StubTransport { request in HTTPResponse(status: 200, body: request.body) }
        let response = try await clock.run { try await recording.send(request, over: server) }
        // The recording reads the content before the server does.
        #expect(clock.now.elapsed == .seconds(24) && response.body.data == Data("abc".utf8))
    }

    @Test func theTimeOfReadingCountsForTheWholeCall() async throws {
        let recording = tape.recording(.all, time: .manual(clock))
        let body = HTTPBody.oneShot(slow(["a"], every: .seconds(4)))
        let request = try request(body, Timeouts(idle: nil, total: .seconds(5)))
        let server = StubTransport(time: .manual(clock))
        server.enqueue(.text("late").delayed(by: .seconds(3)))
        _ = try await failure(.timedOut) {
            _ = try await clock.run { try await recording.send(request, over: server) }
        }
        #expect(clock.now.elapsed == .seconds(5))
        // An error names the limit that the caller chose.
        #expect(server.requests.first?.context.timeouts?.total == .seconds(5))
    }

    @Test(arguments: [true, false]) func aFolderCountsReadingAndAnsweringTogether(isSample: Bool) async throws {
        let folder = try AnswerFolder(["POST/a.json": "1"])
        let time = TimeSource.manual(clock)
        let transport: any Transport =
            isSample ? .samples(delay: .seconds(3), time: time) : .files(in: folder.url, delay: .seconds(3), time: time)
        var request = try request(slow(["a"], every: .seconds(4)), Timeouts(idle: nil, total: .seconds(5)))
        if isSample { request.context.endpoint = EndpointRequest<Data>.get("/a").sample(.text("1")) }
        _ = try await failure(.timedOut) { _ = try await clock.run { [request] in try await transport.send(request) } }
        #expect(clock.now.elapsed == .seconds(5))
    }

    @Test func aCallThatIsCancelledWhileItsContentIsReadEnds() async throws {
        let (silence, end) = AsyncStream.makeStream(of: Data.self)
        defer { end.finish() }
        let recording = tape.recording(.all, time: .manual(clock))
        let request = try request(.oneShot(silence), Timeouts(idle: .seconds(5)))
        let call = Task { try await recording.send(request, over: NoServer()) }
        await clock.sleepers(1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }
}
