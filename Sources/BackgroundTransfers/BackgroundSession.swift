internal import Foundation
internal import Middlewares

/// The part that carries out tasks: the system's background session, or tasks of this process.
protocol BackgroundSession: Sendable {
    /// Starts a task. The request's body counts only for an upload.
    ///
    /// - Parameter upload: the file to send; `nil` for a download.
    func start(_ task: TransferTask, _ request: HTTPRequest, upload: URL?) throws
    func cancel(_ task: TransferTask)
    func cancel(number: Int)
    /// The tasks that the session knows.
    func list() async -> [ListedTask]
    /// Ends everything without a report, as the end of the process would. The system's session goes on.
    func close()
}

/// A report of a session.
enum SessionEvent: Sendable {
    case progressed(TransferTask, TransferProgress)
    /// The content of a response is in a file, which exists only during the call.
    case downloaded(TransferTask, TransferResponse, URL)
    /// - content: the beginning of an upload's response.
    case completed(TransferTask, TransferResponse?, failure: TransferFailure?, content: Data)
    case eventsFinished
}

/// Receives the reports of a session, on any thread.
typealias SessionReceiver = @Sendable (SessionEvent) -> Void

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
        case system(isDiscretionary: Bool, timeLimit: Duration)
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
    ///   - transport: sends the prepared requests; by default the transport of the client that prepares them.
    ///   - maxTransfers: how many transfers run at a time; 4 by default, and at least 1. The others wait.
    public static func inProcess(over transport: (any Transport)? = nil, maxTransfers: Int = 4) -> Self {
        Self(kind: .inProcess(over: transport, limit: max(1, maxTransfers)))
    }

    /// Runs transfers in a background `URLSession`, which goes on without the app. Only Apple's platforms have one: elsewhere,
    /// creating ``BackgroundTransfers`` throws `HTTPErrorCode.unsupported`.
    ///
    /// - Parameters:
    ///   - isDiscretionary: whether the system waits for a good moment, such as Wi-Fi and power.
    ///   - timeLimit: the longest time of one attempt, 7 days by default. The system tries again until then.
    public static func system(isDiscretionary: Bool = false, timeLimit: Duration = .seconds(7 * 24 * 60 * 60)) -> Self {
        Self(kind: .system(isDiscretionary: isDiscretionary, timeLimit: timeLimit))
    }
}

extension BackgroundTransferSession {
    /// Whether the system runs the transfers.
    ///
    /// - Parameter tls: the TLS settings of the client's transport, as far as known.
    /// - Throws: ``BackgroundTransferError`` with `unsupported` if the system has no such session or can't apply the settings.
    func isSystem(_ tls: TLSConfiguration?) throws(BackgroundTransferError) -> Bool {
        guard case .system = kind else { return false }
        if let reason = Self.refusal(tls) { throw BackgroundTransferError(.unsupported, reason) }
        #if canImport(Darwin)
        return true
        #else
        throw BackgroundTransferError(
            .unsupported,
            "Only Apple's platforms have background sessions: use .inProcess()."
        )
        #endif
    }

    /// The reason why the system's session can't replace a transport with these settings; `nil` if it can.
    static func refusal(_ tls: TLSConfiguration?) -> String? {
        tls?.settingsBeyondSystem.map { settings in
            "The client's transport has TLS settings (\(settings)) that a background session doesn't apply, and they are not"
                + " ignored. Use a client without them, or the session .inProcess()."
        }
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
            // Weakly, because the session's tasks must not keep alive what a deinit closes.
            open(
                InProcessSession(over: transport ?? client.chain.transport, limit: limit, folder: folder) {
                    [weak self] in
                    self?.receive($0)
                }
            )
            handle(.listed([], isFinal: true))
        case .system(let isDiscretionary, let timeLimit):
            #if canImport(Darwin)
            let system = SystemSession(identifier, isDiscretionary: isDiscretionary, timeLimit: timeLimit) {
                self.receive($0)
            }
            open(system)
            Task { await match(system, clock) }
            #else
            // `isSystem` has thrown.
            break
            #endif
        }
    }

    /// Compares the records with the session's tasks, at once and after a while: the system may list an ended task no more,
    /// although its end wasn't reported yet.
    func match(_ session: any BackgroundSession, _ clock: any Clock<Duration>) async {
        handle(.listed(await session.list(), isFinal: false))
        do {
            try await clock.sleep(for: Self.reportingTime)
        } catch {
            // Cancelled: the next launch compares them.
            return
        }
        handle(.listed(await session.list(), isFinal: true))
    }

    private static var reportingTime: Duration { .seconds(30) }
}
