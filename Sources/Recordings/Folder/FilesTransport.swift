public import Foundation
public import InterceptorsCore

/// The transport of `.files(in:)`, documented there.
public struct FilesTransport: Transport {
    private let answers: FolderAnswers
    private let delay: Duration
    private let clock: any Clock<Duration>

    init(_ answers: FolderAnswers, delay: Duration, time: TimeSource) {
        self.answers = answers
        self.delay = delay
        clock = time.clock
    }

    /// Answers a request from the folder.
    public func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let request = request
        try Task.checkCancellation()
        try request.validate()
        let received = try await StubExchange.receive(request, clock: clock).recorded
        let found = try await answers.answer(to: received)
        return try await StubExchange.response(of: found.answer.delayed(by: delay), to: received, clock: clock)
    }
}

extension Transport where Self == FilesTransport {
    /// Answers requests from the files in a folder, without a network.
    ///
    /// ```swift
    /// let api = Client(baseURL: url, transport: .files(in: folder))
    /// let user: User = try await api.get("/users/42")          // GET/users/42.json
    /// ```
    /// The article <doc:Folders> says which file answers which request, and how to write one by hand. The interceptor
    /// `record(to:)` writes such a folder, `MockServer(serving:)` and the program `mockserver` serve one.
    ///
    /// The first request reads the names of the files, so a new file is seen when the program starts again. Nothing outside of the
    /// folder is ever read: links in it aren't followed.
    ///
    /// A request without a file fails with `HTTPErrorCode.noStub`. The message names the files that would answer, and a similar one that
    /// exists. A file that can't be read or understood, or has more than 64 MiB, fails with `HTTPErrorCode.unreadableFile`. Otherwise it behaves like `StubTransport`: limits of time and size,
    /// progress, streams and cancellation are honored.
    ///
    /// - Parameters:
    ///   - folder: the folder.
    ///   - delay: the wait before each answer, none by default.
    ///   - time: its clock measures the delay and time limits.
    public static func files(
        in folder: URL,
        delay: Duration = .zero,
        time: TimeSource = .system
    ) -> Self {
        FilesTransport(FolderAnswers(folder, now: time.now), delay: delay, time: time)
    }
}
