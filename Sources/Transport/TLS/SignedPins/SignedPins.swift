public import Foundation
internal import Synchronization

/// Pins that are fetched when the built-in ones no longer match, and believed because of their signature.
///
/// ```swift
/// let signed = SignedPins(
///     url: URL(string: "https://static.example.com/pins.json")!,
///     keys: [try PinListKey(pem: builtInKey)],
///     keptIn: caches.appending(path: "pins.json"),
///     over: .platform()
/// )
/// var tls = TLSConfiguration.pinned(["api.example.com": ["sha256/…", "sha256/…"]])
/// tls.signedPins = signed
/// ```
/// When a server's chain holds none of the pins of its host, the list and its signature (at the same URL with `.sig`) are
/// fetched once for all calls that wait for it. The list is accepted only if
/// - one of the keys has signed it,
/// - it names the host,
/// - it has not expired,
/// - its serial number is not less than that of the last one accepted, in this run or an earlier one.
///
/// Its pins are then accepted **beside** the built-in ones, until it expires, and the call that had failed is sent: nothing of
/// it had gone out. The call's time limit for the whole holds for all of it together, and the fetching has limits of its own:
/// 30 seconds, or a silence of 15, for the list and for its signature. The format is described in `Docs/SignedPinLists.md`; `Scripts/sign-pins` makes keys and signs lists.
///
/// Fetch it over a transport that does not need it, such as one with the system's trust; that of the pinned host itself may
/// be what can't be reached.
public final class SignedPins: Sendable {
    /// Where the list is.
    public let url: URL
    /// Where its signature is: the list's URL with `.sig` at the end of its path.
    public let signatureURL: URL

    private struct State {
        var list: PinList?
        var lastSerial: Int64?
        var lastAttempt: Duration?
        var isFetching = false
        var waiting: [AsyncStream<SignedPinsError?>.Continuation] = []
    }

    private let keys: [PinListKey]
    private let file: PinListFile?
    private let transport: any Transport
    private let minimumInterval: Duration
    private let elapsed: @Sendable () -> Duration
    private let now: @Sendable () -> Date
    private let state = Mutex(State())
    // All calls that need the list wait for one fetching: whoever draws it out must not hold them up for long.
    private static let timeouts = Timeouts(idle: .seconds(15), whole: .seconds(30))

    /// Pins that are fetched when they are needed, beginning with those that an earlier run has kept.
    ///
    /// - Parameters:
    ///   - url: where the list is.
    ///   - keys: the keys, one of which must have signed it.
    ///   - file: where the last list that was accepted is kept across runs; without it, an older one would be accepted
    ///     after a restart. A file that no key has signed is ignored.
    ///   - transport: what fetches it.
    ///   - minimumInterval: how long not to try again after an attempt, 60 seconds by default.
    ///   - clock: what that is measured by.
    ///   - now: the date, which expiry is compared with.
    public init(
        url: URL,
        keys: [PinListKey],
        keptIn file: URL?,
        over transport: any Transport,
        minimumInterval: Duration = .seconds(60),
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.url = url
        signatureURL = Self.signatureURL(of: url)
        self.keys = keys
        self.file = file.map { PinListFile(url: $0) }
        self.transport = transport
        self.minimumInterval = minimumInterval
        self.now = now
        elapsed = Self.elapsed(on: clock)
        if let list = self.file?.read(keys: keys) {
            state.withLock {
                $0.list = list
                $0.lastSerial = list.serial
            }
        }
    }

    /// The serial number of the last list accepted, in this run or an earlier one.
    public var serial: Int64? { state.withLock(\.lastSerial) }

    /// Fetches the list now, whenever the last attempt was, and uses it if it is accepted.
    ///
    /// - Throws: ``SignedPinsError``, or `CancellationError`; then the fetching goes on for others who wait.
    public func refresh() async throws {
        if let error = try await fetched() { throw error }
    }

    private static func signatureURL(of url: URL) -> URL {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return url }
        parts.percentEncodedPath += ".sig"
        return parts.url ?? url
    }

    private static func elapsed<C: Clock<Duration>>(on clock: C) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}

extension SignedPins {
    /// The pins of the list that was accepted last, while it has not expired.
    func pins(for pattern: HostPattern) -> [CertificatePin]? {
        guard let list = state.withLock(\.list), now() < list.expires else { return nil }
        return list.pins[pattern]
    }

    /// Tries to learn a host's pins.
    ///
    /// - Returns: why it could not; `nil` if the list in use now names the host.
    func update(for host: String) async throws -> SignedPinsError? {
        let isTooEarly = state.withLock { state in
            state.lastAttempt.map { elapsed() - $0 < minimumInterval && !state.isFetching } ?? false
        }
        if isTooEarly { return SignedPinsError(.unavailable, "The list was fetched less than \(minimumInterval) ago.") }
        if let error = try await fetched(), error.code != .notKept { return error }
        let isNamed = HostPattern.candidates(for: HostPattern.normalized(host)).contains { pins(for: $0) != nil }
        return isNamed ? nil : SignedPinsError(.hostMissing, "The list at \(url) has no pins for \(host).")
    }

    /// Whether this is a request for the list itself: it can't wait for the list.
    func isOwn(_ request: HTTPRequest) -> Bool { request.url == url || request.url == signatureURL }

    // Joins the fetching in progress, or begins one. It goes on when whoever waits is cancelled.
    private func fetched() async throws -> SignedPinsError? {
        let (results, continuation) = AsyncStream<SignedPinsError?>.makeStream()
        let mustBegin = state.withLock { state in
            state.waiting.append(continuation)
            defer { state.isFetching = true }
            return !state.isFetching
        }
        if mustBegin { Task { await self.fetchAndTell() } }
        for await result in results { return result }
        throw CancellationError()
    }

    @concurrent
    private func fetchAndTell() async {
        var failure: SignedPinsError?
        do {
            try await fetch()
        } catch {
            failure = error
        }
        let waiting = state.withLock { state in
            state.lastAttempt = elapsed()
            state.isFetching = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting {
            continuation.yield(failure)
            continuation.finish()
        }
    }

    private func fetch() async throws(SignedPinsError) {
        let list: PinList
        do {
            let content = try await get(url)
            list = try PinList(content, signature: try await get(signatureURL), keys: keys)
            // Another process may have been first.
            let kept = file?.read(keys: keys)?.serial
            let last = [kept, serial].compactMap(\.self).max()
            try list.check(now: now(), lastSerial: last)
        } catch let error as SignedPinsError {
            throw error
        } catch {
            throw SignedPinsError(.unavailable, "\(error)")
        }
        state.withLock { state in
            state.list = list
            state.lastSerial = list.serial
        }
        do {
            try file?.write(list)
        } catch {
            throw SignedPinsError(.notKept, "List \(list.serial) is in use, but could not be kept: \(error)")
        }
    }

    private func get(_ url: URL) async throws -> Data {
        var request = HTTPRequest(url: url)
        request.headerFields[.cacheControl] = "no-cache"
        request.context.responseBody = .buffered(upTo: PinList.sizeLimit)
        request.context.timeouts = Self.timeouts
        let response = try await transport.send(request)
        guard response.status == 200 else {
            response.body.discard()
            let place = Redaction.standard.string(for: url)
            throw SignedPinsError(.unavailable, "\(place) was answered with status \(response.status.code).")
        }
        return try await response.body.collect(upTo: PinList.sizeLimit)
    }
}

extension SignedPins: Hashable {
    /// Whether they are the same object.
    public static func == (one: SignedPins, other: SignedPins) -> Bool { one === other }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
