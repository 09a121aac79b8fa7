#if canImport(Testing)
public import Foundation
public import InterceptorsRecordings
internal import Synchronization
public import Testing

/// Gives a test a `Recording`: see the factory `recorded(_:filePath:recording:)`.
public struct RecordedTrait: TestTrait, TestScoping {
    /// The recording of a test that runs, and whether one of its cases has thrown.
    final class Session: Sendable {
        let recording: Recording
        let hasThrown = Atomic(false)

        init(_ recording: Recording) { self.recording = recording }
    }

    let file: URL
    let recording: @Sendable (URL) -> Recording

    /// The session of the test that runs in this task.
    @TaskLocal static var session: Session?

    /// This trait, around the whole test and around each case: the cases share the recording.
    public func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { self }

    /// Runs a test with a recording, and finishes the recording unless a case has thrown.
    ///
    /// - Parameters:
    ///   - test: the test.
    ///   - testCase: the case, or `nil` around the whole test.
    ///   - function: the rest of the test.
    /// - Throws: what `function` throws, and the errors of `Recording.finish(allowingUnused:)`.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        if testCase != nil, let session = Self.session {
            // Around the whole test, the error of a case isn't seen: Swift Testing has recorded it by then.
            do {
                try await function()
            } catch {
                session.hasThrown.store(true, ordering: .relaxed)
                throw error
            }
        } else {
            let session = Session(recording(file))
            try await Self.$session.withValue(session) { try await function() }
            if !session.hasThrown.load(ordering: .relaxed) { try session.recording.finish() }
        }
    }
}

extension Trait where Self == RecordedTrait {
    /// Records the exchanges of a test when it first runs, and plays them afterwards.
    ///
    /// ```swift
    /// @Test(.recorded("films")) func listsFilms() async throws {
    ///     let api = Client(baseURL: url, interceptors: .standard(), transport: try .recorded(over: .platform()))
    ///     let films: [User] = try await api.get("/films")
    ///     #expect(films.count == 20)
    /// }
    /// ```
    /// The recording is `Recordings/films.har` beside the test's file. The recording is finished after the test, so an entry that no
    /// request has used fails the test. If the test throws, the recording isn't finished: its exchanges stay in the side file, which
    /// the next run plays. The cases of a test with arguments share one recording.
    ///
    /// - Parameters:
    ///   - name: the file's name without its extension. Give each test a name, because parallel tests can't record into one file.
    ///   - filePath: the test's source file; `Recordings` is beside it.
    ///   - recording: makes the recording, for example with another mode: `{ Recording(at: $0, mode: .new) }`.
    public static func recorded(
        _ name: String,
        filePath: String = #filePath,
        recording: @escaping @Sendable (URL) -> Recording = { Recording(at: $0) }
    ) -> Self {
        let folder = URL(filePath: filePath).deletingLastPathComponent().appending(path: "Recordings")
        return RecordedTrait(file: folder.appending(path: "\(name).har"), recording: recording)
    }
}

extension Transport where Self == RecordedTransport {
    /// Plays the recording of the running test, and records what isn't there by sending it through another transport.
    ///
    /// Call it in a test with the trait `.recorded("name")`, in the test's task or in a child of it.
    ///
    /// - Throws: `TransportError` with `HTTPErrorCode.notRecorded` if the task has no recording.
    public static func recorded(over transport: any Transport) throws -> Self {
        guard let session = RecordedTrait.session else {
            throw TransportError(
                .notRecorded,
                "This task has no recording. Write `@Test(.recorded(\"name\"))` before the test."
            )
        }
        return .recorded(session.recording, over: transport)
    }
}
#endif
