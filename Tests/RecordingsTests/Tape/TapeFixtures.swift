import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsRecordings

/// A file for a recording, in a folder of its own.
struct TapeFile {
    let folder: TemporaryFolder
    var url: URL { folder.file("users.har") }
    var side: URL { folder.file("users.har.unfinished") }

    init() throws { folder = try TemporaryFolder() }

    func recording(
        _ mode: Recording.Mode,
        matching: RequestMatching = .standard,
        expiring: Duration? = nil,
        repeatingLast: Bool = false,
        repeatingPauses: Bool = false,
        bodyLimit: Int = 16 << 20,
        environment: [String: String] = [:],
        time: TimeSource = .system
    ) -> Recording {
        Recording(
            at: url,
            mode: mode,
            matching: matching,
            expiring: expiring,
            repeatingLast: repeatingLast,
            repeatingPauses: repeatingPauses,
            bodyLimit: bodyLimit,
            environment: environment,
            time: time
        )
    }

    /// Records some GET requests, whose answers the stub has queued, and finishes.
    func record(_ paths: [String], _ stub: StubTransport, time: TimeSource = .system) async throws {
        let tape = recording(.all, time: time)
        for path in paths { _ = try await tape.get(path, over: stub) }
        try tape.finish()
    }

    /// Records `/a` with a response after nine seconds, and cancels a call that plays it.
    ///
    /// - Returns: the recording that was playing.
    func recordingAfterACancelledPlay(_ clock: ManualClock) async throws -> Recording {
        let server = StubTransport(time: .manual(clock))
        server.enqueue(.text("late").delayed(by: .seconds(9)))
        let recording = recording(.all, time: .manual(clock))
        _ = try await clock.run { try await recording.get("/a", over: server) }
        try recording.finish()
        let played = self.recording(.none, repeatingPauses: true, time: .manual(clock))
        let call = Task { try await played.get("/a") }
        await clock.sleepers(1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        return played
    }

    var bytes: Data? { FileManager.default.contents(atPath: url.path) }
    var exists: Bool { FileManager.default.fileExists(atPath: url.path) }
    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.url.path)) ?? []).sorted()
    }
}

let tapeHost = "https://api.example.com"

func tapeURL(_ path: String) throws -> URL { try #require(URL(string: tapeHost + path)) }

extension Recording {
    func send(_ request: HTTPRequest, over base: any Transport) async throws -> HTTPResponse {
        try await RecordedTransport.recorded(self, over: base).send(request)
    }

    /// The text of the response to a GET request.
    @discardableResult
    func get(
        _ path: String,
        over base: any Transport = NoServer(),
        mode: ResponseBodyMode = .buffered
    ) async throws -> String {
        var request = HTTPRequest(url: try tapeURL(path))
        request.context.responseBody = mode
        let response = try await send(request, over: base)
        return String(decoding: try await response.body.collect(upTo: 64 << 20), as: UTF8.self)
    }
}

/// A transport that must not be reached.
struct NoServer: Transport {
    struct Reached: Error {}

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        Issue.record("\(request) was sent")
        throw Reached()
    }
}

/// The error of a call that must fail with a code.
func failure(_ code: HTTPErrorCode, of call: () async throws -> Void) async throws -> TransportError {
    let error = try #require(await #expect(throws: TransportError.self) { try await call() })
    #expect(error.code == code, "\(error)")
    return error
}

/// The report of `finish`.
func problems(_ finish: () throws -> Void) throws -> RecordingError {
    try #require(#expect(throws: RecordingError.self) { try finish() })
}
