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
    /// An edit is seen at the next request. Nothing outside of the folder is ever read: links in it aren't followed.
    /// Several answers to the same request are given in order; the last is repeated.
    ///
    /// A request without a file fails with `HTTPErrorCode.noStub`. The message names the files that would answer, and the
    /// nearest that exists. A file that can't be read or understood fails with
    /// `HTTPErrorCode.unreadableFile`. Otherwise it behaves like `StubTransport`: limits of time and size,
    /// progress, streams and cancellation are honored.
    ///
    /// - Parameters:
    ///   - folder: the folder.
    ///   - delay: the wait before each answer, none by default.
    ///   - redaction: decides which values are secrets, for which a file's name has a `*`. A folder is played with the redaction
    ///     that it was recorded with.
    ///   - replacing: the program's own replacement of secrets, as the folder was recorded with; by default none.
    ///   - time: its clock measures the delay and time limits.
    public static func files(
        in folder: URL,
        delay: Duration = .zero,
        redaction: Redaction = .standard,
        replacing: (@Sendable (String) -> String)? = nil,
        time: TimeSource = .system
    ) -> Self {
        let answers = FolderAnswers(folder, redaction: redaction, replacing: replacing, now: time.now)
        return FilesTransport(answers, delay: delay, time: time)
    }
}
