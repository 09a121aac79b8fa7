internal import Foundation
internal import Interceptors

/// The part that carries out tasks: the system's background session, or tasks of this process.
protocol BackgroundSession: Sendable {
    /// Starts a task. The request's body counts only for an upload.
    ///
    /// - Parameter upload: the file to send; `nil` for a download.
    func start(_ task: TransferTask, _ request: HTTPRequest, upload: URL?) throws
    func cancel(_ task: TransferTask)
    func cancel(number: Int)
    /// Resumes a task that was never resumed. Another task stays as it is.
    func resume(number: Int)
    /// The tasks that the session knows.
    func list() async -> [ListedTask]
    /// Ends everything without a report, as the end of the process would. The system's session goes on.
    func close()
}

/// Receives the reports of a session, on any thread.
typealias SessionReceiver = @Sendable (TransferEvent) -> Void

/// The longest content of an upload's response.
let uploadResponseLimit = 64 * 1024

/// The place where transfers run.
///
/// ```swift
/// let stub = StubTransport()
/// let transfers = try BackgroundTransfers("films", preparing: api, session: .inProcess(over: stub)) { end in
///     print(end)
/// }
/// ```
public struct BackgroundTransferSession: Sendable {
    enum Kind: Sendable {
        case inProcess(over: (any Transport)?, limit: Int)
        case system(isDiscretionary: Bool, timeLimit: Duration, fieldsOnRedirects: Set<HTTPField.Name>)
    }

    let kind: Kind

    /// The system's session on Apple's platforms, and the process elsewhere.
    public static var platform: Self {
        #if canImport(Darwin)
        return .system()
        #else
        return .inProcess()
        #endif
    }

    /// Runs transfers in the process, also on Apple's platforms: for tests, and for systems without background sessions.
    ///
    /// A transfer stops when the process ends. In the next launch it is renewed, or ends with `HTTPErrorCode.transferLost`.
    ///
    /// - Parameters:
    ///   - transport: sends the prepared requests with its own settings, such as pins; by default the transport of the client that
    ///     prepares them. If that is a chain or a client, its interceptors prepare too, and its transport sends.
    ///   - maxTransfers: how many transfers run at a time; 4 by default, and at least 1. The others wait.
    public static func inProcess(over transport: (any Transport)? = nil, maxTransfers: Int = 4) -> Self {
        Self(kind: .inProcess(over: transport, limit: max(1, maxTransfers)))
    }

    /// Runs transfers in a background `URLSession`, which goes on without the app. Only Apple's platforms have one: elsewhere,
    /// creating ``BackgroundTransfers`` throws `HTTPErrorCode.unsupported`.
    ///
    /// - Parameters:
    ///   - isDiscretionary: whether the system waits for a good moment, such as Wi-Fi and power. It does so in any case for a
    ///     transfer that is enqueued or renewed while the app is in the background.
    ///   - timeLimit: the longest time of one attempt, 7 days by default. Until then, the system sends the request again after each
    ///     silence of 60 seconds.
    ///   - fieldsOnRedirects: fields that a redirect may carry to another origin, such as an `X-Api-Key` that is no secret. The
    ///     system follows redirects without asking, and removes only `Authorization`. A request with another field that
    ///     `followRedirects` would remove, such as `Cookie`, isn't enqueued, unless the field is named here. None by default.
    public static func system(
        isDiscretionary: Bool = false,
        timeLimit: Duration = .seconds(7 * 24 * 60 * 60),
        fieldsOnRedirects: Set<HTTPField.Name> = []
    ) -> Self {
        let fields = fieldsOnRedirects
        return Self(kind: .system(isDiscretionary: isDiscretionary, timeLimit: timeLimit, fieldsOnRedirects: fields))
    }
}

extension BackgroundTransferSession {
    /// The conditions under which the system runs the transfers; `nil` if the process runs them.
    ///
    /// - Throws: ``TransferError`` with `unsupported` if the system has no such session, or if the session can't replace
    ///   the client's transport.
    func replacement(of client: Client) throws(TransferError) -> SessionReplacement? {
        guard case .system(_, _, let fieldsOnRedirects) = kind else { return nil }
        let replacement = try SessionReplacement(of: client, fieldsOnRedirects: fieldsOnRedirects)
        #if canImport(Darwin)
        return replacement
        #else
        throw TransferError(.unsupported, "Only Apple's platforms have background sessions: use .inProcess().")
        #endif
    }
}

extension TransferCore {
    /// Opens the session, and begins to receive and to deliver.
    func open(
        _ session: BackgroundTransferSession,
        _ identifier: String,
        _ folder: TransferFolder,
        _ client: Client,
        _ clock: any Clock<Duration>
    ) {
        switch session.kind {
        case .inProcess(let transport, let limit):
            open {
                // Weakly, because the session's tasks must not keep alive what a deinit closes.
                InProcessSession(
                    over: transport ?? RequestPreparation.innermost(client),
                    redaction: client.chain.redirectRedaction,
                    limit: limit,
                    folder: folder
                ) { [weak self] in
                    self?.receive($0)
                }
            }
            handle(.listed([], isFinal: true))
        #if canImport(Darwin)
        case .system(let isDiscretionary, let timeLimit, _):
            // Otherwise `replacement(of:)` has thrown.
            guard let transport = client.ends.first as? URLSessionTransport else { return }
            open {
                SystemSession(identifier, isDiscretionary, timeLimit, replacing: transport) { self.receive($0) }
            }
            Task { await match(clock) }
        #else
        // `replacement(of:)` has thrown.
        case .system: break
        #endif
        }
    }

    /// Compares the records with the session's tasks, at once and after a while: the system may list an ended task no more,
    /// although its end wasn't reported yet.
    func match(_ clock: any Clock<Duration>) async {
        handle(.listed(await list(), isFinal: false))
        do {
            try await clock.sleep(for: Self.reportingTime)
        } catch {
            // Cancelled: the next launch compares them.
            return
        }
        handle(.listed(await list(), isFinal: true))
    }

    private static var reportingTime: Duration { .seconds(30) }
}
