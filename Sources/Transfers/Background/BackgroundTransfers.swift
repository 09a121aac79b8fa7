public import Foundation
public import Interceptors

/// Downloads to files and uploads from files that go on while the app isn't running.
///
/// ```swift
/// let transfers = try BackgroundTransfers("com.example.films", preparing: api) { end in
///     switch end.result {
///     case .success: print("\(end.transfer.note) is at \(String(describing: end.transfer.destination))")
///     case .failure(let error): print("\(end.transfer.note) failed: \(error)")
///     }
/// }
/// try await transfers.download(HTTPRequest(url: url), to: file, note: "film 42")
/// ```
/// Create it at each launch, before the app has finished launching, and keep it: its closure then receives the ends of earlier
/// launches too. The module's page has the details, and a list of what to try on a device.
///
/// ## Preparing
/// The chain of the client runs when a transfer is enqueued, and adds fields, a token or a signature. It sees no response. The
/// system may send the request hours later, when a short-lived token has expired: `renewing` then gets a second chance.
///
/// ## Ends
/// - Each transfer ends once. A download's file appears only when it is complete and the status is a success.
/// - An end is delivered again in the next launch if the process ends before the closure has returned.
/// - Ends are delivered one after another.
public final class BackgroundTransfers: Sendable {
    /// Names the transfers across launches.
    public let identifier: String

    private let core: TransferCore
    private let claim: TransferClaim
    /// Whether the system reports the end of a relaunch's events.
    private let isSystem: Bool

    /// Opens the transfers of earlier launches, and delivers their ends.
    ///
    /// - Parameters:
    ///   - identifier: names the transfers across launches, such as `com.example.films`. A process has one object for each.
    ///   - client: its base URL, its interceptors and their order prepare each request.
    ///   - session: the place where transfers run; by default the system's session on Apple's platforms, and the process
    ///     elsewhere.
    ///   - folder: the folder for records and for bodies that aren't files, which no other object may use at the same time. It is
    ///     excluded from backups. By default one for the identifier in the app's support folder, or on tvOS in the caches folder.
    ///   - maxAttempts: how often a request is prepared for a transfer at most, 3 by default. Counts only with `renewing`.
    ///   - time: its clock measures how long the system may take to report the tasks of earlier launches; its random source makes
    ///     the IDs.
    ///   - renewing: returns a request for a transfer whose response was a 401, or that stopped without an outcome. The chain
    ///     prepares the request. Without one, or if preparing fails, the transfer ends with its first failure.
    ///   - report: called on any thread for problems that aren't the end of a transfer, such as a record that can't be written.
    ///   - onEnd: called for each end, outside every actor. The transfer is forgotten when the closure returns. The closure must
    ///     not wait for ``eventsDelivered()``, which waits for it.
    /// - Throws: ``TransferError`` with `identifierInUse` or `folderInUse`, or with `unsupported` if there is no system
    ///   session, or the system can't replace the client's transport, which has pins, say, or is a stub; `TransportError` with
    ///   `unreadableFile` or `unwritableFile` for an unusable folder. That may pass, as after the first unlock of a device.
    public init(
        _ identifier: String,
        preparing client: Client,
        session: BackgroundTransferSession = .platform,
        folder: URL? = nil,
        maxAttempts: Int = 3,
        time: TimeSource = .system,
        renewing: (@Sendable (_ failed: BackgroundTransfer.End) async throws -> HTTPRequest?)? = nil,
        report: @escaping @Sendable (_ problem: any Error) -> Void = { _ in },
        onEnd: @escaping @Sendable (_ end: BackgroundTransfer.End) async -> Void
    ) throws {
        let replacement = try session.replacement(of: client)
        let settings = TransferCore.Settings(
            preparation: RequestPreparation(client, replacement: replacement),
            random: time.random,
            renewing: renewing,
            report: report,
            onEnd: onEnd
        )
        let folder = TransferFolder(url: try folder ?? TransferFolder.usual(for: identifier))
        try folder.create()
        claim = try TransferClaim(identifier, folder.url)
        do {
            core = try TransferCore(settings, folder: folder, maxAttempts: maxAttempts)
        } catch {
            claim.release()
            throw error
        }
        self.identifier = identifier
        isSystem = replacement != nil
        core.open(session, identifier, folder, client, time.clock)
    }

    // The system's session outlives this object, and its transfers go on.
    deinit {
        guard !isSystem else { return }
        core.close()
        claim.release()
    }
}

extension BackgroundTransfers {
    /// Enqueues a download. Returns as soon as the chain has prepared the request and the session has it.
    ///
    /// - Parameters:
    ///   - request: the request, without content. Its URL may be relative to the client's base URL. Its time limits and closures
    ///     for progress don't count.
    ///   - file: the destination. Its folder must exist. A file that is there is replaced at the end.
    ///   - note: the app's own text about the transfer. It is kept on disk in plain form, so put no secret into it.
    ///   - allowsOtherOrigins: whether a redirect may lead to another origin. The system follows redirects in either case; by
    ///     default, such a transfer fails with `HTTPErrorCode.redirectedElsewhere`. After https, http is never allowed.
    /// - Throws: ``TransferError`` with `answeredByChain`, `unsupported` or `downloadInProgress`;
    ///   `TransportError` with `unwritableFile`; errors of the chain; `CancellationError` if the task is cancelled. Nothing is
    ///   enqueued then.
    @discardableResult
    public func download(
        _ request: HTTPRequest,
        to file: URL,
        note: String = "",
        allowsOtherOrigins: Bool = false
    ) async throws -> BackgroundTransfer {
        try await core.enqueue(request, to: file, note: note, allowsOtherOrigins: allowsOtherOrigins)
    }

    /// Enqueues an upload of the request's body. Returns as soon as the chain has prepared the request and the session has it.
    ///
    /// A body made by `HTTPBody(file:)` is sent from that file, which must stay as it is until the end. Every other body is first
    /// written to a file in the folder of the records, which is removed at the end.
    ///
    /// - Parameters:
    ///   - request: the request, with a method such as PUT or POST. Its URL may be relative to the client's base URL. Its time
    ///     limits and closures for progress don't count.
    ///   - note: the app's own text about the transfer. It is kept on disk in plain form, so put no secret into it.
    ///   - allowsOtherOrigins: whether a redirect may lead to another origin: see ``download(_:to:note:allowsOtherOrigins:)``.
    /// - Throws: ``TransferError`` with `answeredByChain` or `unsupported`; `TransportError` if the body can't be read or
    ///   written; errors of the chain; `CancellationError` if the task is cancelled. Nothing is enqueued then.
    @discardableResult
    public func upload(
        _ request: HTTPRequest,
        note: String = "",
        allowsOtherOrigins: Bool = false
    ) async throws -> BackgroundTransfer {
        try await core.enqueue(request, to: nil, note: note, allowsOtherOrigins: allowsOtherOrigins)
    }

    /// The transfers whose end wasn't delivered yet, ordered by ID.
    public var inProgress: [BackgroundTransfer] { core.inProgress }

    /// Cancels a transfer, which ends with a `CancellationError`. A transfer that has ended stays as it is.
    public func cancel(_ id: BackgroundTransfer.ID) { core.handle(.cancelled(id)) }

    /// The progress of a transfer while the app runs. The sequence skips to the latest value, and ends with the transfer.
    public func progress(of id: BackgroundTransfer.ID) -> AsyncStream<TransferProgress> { core.progress(of: id) }

    /// Waits until the session's events of a relaunch are delivered, or the task is cancelled. Then the system may suspend the app.
    ///
    /// ```swift
    /// final class AppDelegate: NSObject, UIApplicationDelegate {
    ///     func application(_: UIApplication, handleEventsForBackgroundURLSession identifier: String) async {
    ///         if identifier == transfers.identifier { await transfers.eventsDelivered() }
    ///     }
    /// }
    /// ```
    /// In SwiftUI: `.backgroundTask(.urlSession("com.example.films")) { await transfers.eventsDelivered() }`.
    ///
    /// Call it only there, and for the session with the identifier: it also waits for the system's word that this session has no
    /// more events.
    public func eventsDelivered() async { await core.eventsDelivered(isLast: !isSystem) }
}
