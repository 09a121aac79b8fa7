public import Foundation
internal import Synchronization

/// Pins that are fetched when the built-in pins no longer match, and accepted because of their signature.
///
/// ```swift
/// let signed = try SignedPins(
///     url: URL(string: "https://static.example.com/pins.json")!,
///     keys: [builtInKey],
///     cacheFile: caches.appending(path: "pins.json"),
///     transport: .platform()
/// )
/// var tls = TLSConfiguration.pinned(["api.example.com": ["sha256/…", "sha256/…"]])
/// tls.signedPins = signed
/// ```
/// If a server's chain contains none of its host's pins, the list and its signature (the same URL with `.sig`) are fetched. All
/// calls that need the list share one fetch. The list is accepted only if
/// - one of the keys has signed it,
/// - it names the host,
/// - it hasn't expired,
/// - its serial number isn't less than the last accepted list's, in this run or an earlier one.
///
/// The list's pins then apply **beside** the built-in pins until the list expires, and the failed call is sent again: nothing
/// of it had been sent. The call's overall time limit covers the fetch too. The list and the signature each have 30 seconds to
/// arrive, with at most 15 seconds of silence. The article *Signed pin lists*, in the documentation of
/// `InterceptorsMiddlewares`, describes the format; `Scripts/sign-pins` creates keys and signs lists.
///
/// Fetch the list over a transport that doesn't depend on it, such as one with the system's trust. Don't host the list on the
/// pinned host, which may be unreachable just when the list is needed.
public final class SignedPins: Sendable {
    /// The URL of the list.
    public let url: URL
    /// The URL of the signature: the list's URL with `.sig` appended to its path.
    public let signatureURL: URL

    private struct State {
        var list: PinList?
        var lastAttempt: Duration?
        var isFetching = false
        var waiting: [AsyncStream<TransportError?>.Continuation] = []
    }

    private let keys: [PinListKey]
    private let file: PinListFile?
    private let transport: any Transport
    private let minimumInterval: Duration
    private let elapsed: @Sendable () -> Duration
    private let now: @Sendable () -> Date
    private let report: @Sendable (TransportError) -> Void
    private let state = Mutex(State())
    // All calls that need the list wait for a single fetch, so a slow server must not hold them up for long.
    private static let timeouts = Timeouts(idle: .seconds(15), total: .seconds(30))

    /// Creates signed pins, starting with the list that an earlier run has kept, if any.
    ///
    /// - Parameters:
    ///   - url: the URL of the list.
    ///   - keys: the accepted public keys in PEM: RSA of at least 2048 bits, an elliptic curve or Ed25519. One of them must have signed
    ///     the list, with SHA-256 or Ed25519. `Scripts/sign-pins keygen` creates a key pair.
    ///   - file: the file that keeps the last accepted list across runs. Without it, an older list would be accepted after a
    ///     restart. A file that no key has signed is ignored.
    ///   - transport: the transport that fetches the list.
    ///   - minimumInterval: the shortest time between two automatic fetches. By default 60 seconds.
    ///   - time: measures `minimumInterval`; its wall clock decides whether the list has expired.
    ///   - report: called after each fetch that fails, also when the call that needed the list fails for it. Does nothing by
    ///     default.
    /// - Throws: ``TransportError`` with ``HTTPErrorCode/invalidPublicKey``.
    public init(
        url: URL,
        keys: [String],
        cacheFile file: URL?,
        transport: any Transport,
        minimumInterval: Duration = .seconds(60),
        time: TimeSource = .system,
        report: @escaping @Sendable (TransportError) -> Void = { _ in }
    ) throws {
        let keys = try keys.map(PinListKey.init)
        self.url = url
        self.report = report
        signatureURL = Self.signatureURL(of: url)
        self.keys = keys
        self.file = file.map { PinListFile(url: $0) }
        self.transport = transport
        self.minimumInterval = minimumInterval
        now = time.now
        elapsed = time.stopwatch().elapsed
        let kept = self.file?.read(keys: keys)
        state.withLock { $0.list = kept }
    }

    /// The serial number of the last accepted list, in this run or an earlier one.
    public var serial: Int64? { state.withLock { $0.list?.serial } }

    /// Fetches the list now, regardless of `minimumInterval`, and uses it if accepted.
    ///
    /// - Throws: ``TransportError``, or `CancellationError` if the task is cancelled. The fetch then continues for other
    ///   waiters.
    public func refresh() async throws {
        if let error = try await fetched() { throw error }
    }

    private static func signatureURL(of url: URL) -> URL {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return url }
        parts.percentEncodedPath += ".sig"
        return parts.url ?? url
    }
}

extension SignedPins {
    /// The pins for a pattern in the last accepted list, unless the list has expired.
    func pins(for pattern: HostPattern) -> [CertificatePin]? {
        guard let list = state.withLock(\.list), now() < list.expires else { return nil }
        return list.pins[pattern]
    }

    /// Fetches the list to learn a host's pins.
    ///
    /// - Returns: the reason for a failure, or `nil` if the current list names the host.
    func update(for host: String) async throws -> TransportError? {
        let isTooEarly = state.withLock { state in
            state.lastAttempt.map { elapsed() - $0 < minimumInterval && !state.isFetching } ?? false
        }
        if isTooEarly {
            return TransportError(.pinsUnavailable, "The list was fetched less than \(minimumInterval) ago.")
        }
        if let error = try await fetched(), error.code != .pinsNotSaved { return error }
        let isNamed = HostPattern.candidates(for: HostPattern.normalized(host)).contains { pins(for: $0) != nil }
        return isNamed
            ? nil
            : TransportError(
                .pinsLackHost,
                "The list at \(Redaction.standard.string(for: url)) has no pins for \(host)."
            )
    }

    /// The number of calls that wait for the fetch in progress, cancelled ones included.
    var waiterCount: Int { state.withLock(\.waiting.count) }

    /// Whether the request fetches the list or its signature, and therefore can't wait for the list.
    func isOwn(_ request: HTTPRequest) -> Bool { request.url == url || request.url == signatureURL }

    // Joins the fetch in progress, or starts one. The lock guards the waiters and the flag, so exactly one task fetches and
    // resumes every waiter outside the lock. The fetch isn't cancelled with the task that started it.
    private func fetched() async throws -> TransportError? {
        let (results, continuation) = AsyncStream<TransportError?>.makeStream()
        let mustBegin = state.withLock { state in
            state.waiting.append(continuation)
            defer { state.isFetching = true }
            return !state.isFetching
        }
        if mustBegin { Task(executorPreference: StartedWork.watcher) { await self.fetchAndTell() } }
        for await result in results { return result }
        throw CancellationError()
    }

    @concurrent
    private func fetchAndTell() async {
        let failure = await fetch()
        let waiting = state.withLock { state in
            state.lastAttempt = elapsed()
            state.isFetching = false
            defer { state.waiting = [] }
            return state.waiting
        }
        if let failure { report(failure) }
        for continuation in waiting {
            continuation.yield(failure)
            continuation.finish()
        }
    }

    private func fetch() async -> TransportError? {
        do {
            let content = try await get(url)
            let list = try PinList(content, signature: try await get(signatureURL), keys: keys)
            // Another process may have accepted a newer list.
            let kept = file?.read(keys: keys)?.serial
            try list.check(now: now(), lastSerial: [kept, serial].compactMap(\.self).max())
            state.withLock { $0.list = list }
            return keep(list)
        } catch {
            return error as? TransportError ?? TransportError(.pinsUnavailable, ErrorText.line(error))
        }
    }

    private func keep(_ list: PinList) -> TransportError? {
        do {
            try file?.write(list)
            return nil
        } catch {
            let message = "List \(list.serial) is in use, but could not be kept: \(ErrorText.line(error))"
            return TransportError(.pinsNotSaved, message)
        }
    }

    private func get(_ url: URL) async throws -> Data {
        var request = HTTPRequest(url: url)
        request.headers[.cacheControl] = "no-cache"
        request.context.responseBody = .buffered(upTo: PinList.sizeLimit)
        request.context.timeouts = Self.timeouts
        let status: HTTPResponse.Status
        do {
            let response = try await transport.send(request)
            if response.status == 200 { return try await response.body.collect(upTo: PinList.sizeLimit) }
            response.body.discard()
            status = response.status
        } catch {
            // Also an error about the TLS settings of the transport, which are other settings.
            throw TransportError(.pinsUnavailable, ErrorText.line(error))
        }
        let place = Redaction.standard.string(for: url)
        throw TransportError(.pinsUnavailable, "\(place) was answered with status \(status.code).")
    }
}

extension SignedPins: Hashable {
    /// Whether both are the same object.
    public static func == (one: SignedPins, other: SignedPins) -> Bool { one === other }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
