public import Foundation

extension Transport where Self == StubTransport {
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
    /// exists. A file that can't be read or understood, or has more than 64 MiB, fails with `HTTPErrorCode.unreadableFile`. Limits of time
    /// and size, progress, streams and cancellation are honored, as in every `StubTransport`.
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
        let answers = FolderAnswers(folder, now: time.now)
        let transport = StubTransport(forgettingRequests: true, fallback: nil, time: time)
        transport.on({ _ in true }, .choosing { try await answers.answer(to: $0).answer }.delayed(by: delay))
        return transport
    }
}
