public import Foundation

/// The implementation of `.record(to:)`, documented there.
struct RecordInterceptor: Interceptor {
    let recorder: FolderRecorder
    /// The maximum bytes of a response's content.
    let limit: Int
    let time: TimeSource

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        let request = request
        let recorded = RecordedExchange.Request(request)
        let capture = ExchangeCapture(request: recorded, limit: limit, time: time, sink: recorder.keep)
        return try await capture.capture { try await next(request) }
    }
}

extension RecordInterceptor: PlacedInterceptor {
    // Only `faults` has a wish about this role, because a recording of the wire must not hold injected faults.
    var placement: [ChainRole] { [.records] }
}

extension Interceptor where Self == AnyInterceptor {
    /// Keeps what passes as files in a folder, from which `files(in:)` and `MockServer(serving:)` answer.
    ///
    /// ```swift
    /// let api = Client(baseURL: url, interceptors: [.followRedirects(), .record(to: folder)])
    /// let user: User = try await api.get("/users/42")          // api.example.com/GET/users/42.json
    /// ```
    /// The article <doc:Folders> says which files keep an exchange.
    ///
    /// ## Order
    /// Innermost, the folder holds what the server sent: each redirect, each attempt, each 401. Further out, it holds what the
    /// interceptors inside make of it, such as the response of a cache or the payload of an envelope.
    ///
    /// ## Behaviour
    /// - The response passes unchanged, and a stream stays a stream: it is kept when its reader has read it to the end.
    /// - The last answer to a request replaces the earlier ones. Requests are equal if method, host, path and query are. A
    ///   ``Recording`` keeps sequences of answers, and tells contents of requests apart.
    /// - Two names that are one on a disk that ignores case aren't both kept: `report` is called.
    /// - One process records into a folder at a time, with any number of recorders: another process's `report` is called. A recorder keeps
    ///   answers to at most 10,000 requests. Beyond this limit, `report` is called.
    /// - A 304 to a conditional request isn't kept, nor is a 206 or a 416 to a request with a `Range`. They would replace whole
    ///   answers.
    /// - Credentials in URLs, fields and contents are replaced, by `Redaction.credentials` and as the chain's elements declare them. In the name of a file, a `*` takes their
    ///   place, so the file answers whatever the secret is.
    /// - JSON is indented. Nothing else in it changes: not the order of members, and no number.
    /// - Each file is written whole or not at all, and a killed process mixes no two answers. Only complete responses are kept: no
    ///   errors, no content that broke off or that its reader discarded.
    /// - No failure to record fails a call: `report` is called.
    ///
    /// - Parameters:
    ///   - folder: the folder, which is made when it is needed.
    ///   - bodyLimit: the maximum bytes of a response's content that is kept, 16 MiB by default. It is held in memory until its end.
    ///   - redaction: decides which values are secrets. Whatever its placeholder is, a secret becomes `REDACTED`, and in JSON a
    ///     secret number becomes 0.
    ///   - report: called with the error if an exchange can't be kept. By default nothing happens.
    ///   - replacing: the program's own replacement of secrets in URLs, fields' values and text; by default none. It must not change its
    ///     own results. Where it puts `REDACTED` into a URL, the file answers any text. Any other text becomes a part of the file's name.
    ///   - time: measures the exchanges.
    public static func record(
        to folder: URL,
        bodyLimit: Int = 16 << 20,
        redaction: Redaction = .credentials,
        report: @escaping @Sendable (any Error) -> Void = { _ in },
        replacing: (@Sendable (String) -> String)? = nil,
        time: TimeSource = .system
    ) -> Self {
        let recorder = FolderRecorder(folder, redaction: ExchangeRedaction(redaction, hook: replacing), report: report)
        return Self(RecordInterceptor(recorder: recorder, limit: max(0, bodyLimit), time: time))
    }
}
