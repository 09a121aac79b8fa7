internal import Synchronization

/// Cancels a request when a later one comes under the same key.
///
/// ```swift
/// // A cell of a list that is used again for another picture; the text of a search that goes on being typed.
/// var context = HTTPContext()
/// context.latestKey = LatestKey(cell.id)
/// let picture: Data = try await api.get("/pictures/7", context: context)
/// ```
/// The earlier request throws `CancellationError`, as if its task had been cancelled, but only the call is: its task goes on.
/// A request without a key goes its way, and cancels nothing.
///
/// ## Its place
/// Outermost: whoever is overtaken is done with everything, a retry and a refresh too, and needs no permit. Inside of it,
/// `coalesce` goes on for others who share the exchange.
///
/// ## What it promises
/// - Of the requests under a key, only the last that came is under way, wherever they were sent. An interceptor has keys of
///   its own, which its copies share.
/// - The earlier request ends as soon as what stands inside honours its cancellation. An answer that comes in spite of it is
///   discarded.
/// - A streamed response belongs to its request until it has been read: when a later request comes, its body is discarded,
///   and reading on throws `CancellationError`.
/// - A key is forgotten when its last request has ended.
///
/// The request runs in a task of its own, with the priority and the task-local values of its caller's.
public struct LatestWinsInterceptor: Interceptor {
    final class Calls: Sendable {
        private let calls = Mutex<[LatestKey: LatestCall]>([:])

        var count: Int { calls.withLock(\.count) }

        /// Makes a call the latest, and gives the one that was.
        func begin(_ call: LatestCall, _ key: LatestKey) -> LatestCall? {
            calls.withLock { $0.updateValue(call, forKey: key) }
        }

        func end(_ call: LatestCall, _ key: LatestKey) {
            calls.withLock { if $0[key] === call { $0[key] = nil } }
        }
    }

    let calls = Calls()

    /// An interceptor with keys of its own.
    public init() {}

    /// Passes the request on, and cancels the one that is under way under the same key.
    ///
    /// - Throws: `CancellationError`; what the rest throws.
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard let key = request.context.latestKey else { return try await next(request) }
        let call = LatestCall()
        calls.begin(call, key)?.supersede()
        var response: HTTPResponse
        do {
            response = try await call.run(request, next: next)
        } catch {
            calls.end(call, key)
            throw error
        }
        guard response.body.isUnderWay else {
            calls.end(call, key)
            return response
        }
        let body = response.body
        response.body = HTTPBody.oneShot(LatestChunks(body: body, call: call), length: body.length) { body.discard() }
            .onEnd { [calls] in calls.end(call, key) }
        return response
    }
}

/// What requests have in common of which only the latest is wanted: anything that can be compared.
public struct LatestKey: Sendable, Hashable, ExpressibleByStringLiteral {
    private let value: any Hashable & Sendable

    /// A key that is equal to those made of equal values of the same type.
    public init(_ value: some Hashable & Sendable) { self.value = value }

    /// A key that is a text.
    public init(stringLiteral value: String) { self.value = value }

    /// Whether the values are equal.
    public static func == (left: Self, right: Self) -> Bool { AnyHashable(left.value) == AnyHashable(right.value) }

    /// Hashes the value.
    public func hash(into hasher: inout Hasher) { AnyHashable(value).hash(into: &hasher) }
}

extension HTTPContext {
    private enum LatestKeyKey: HTTPContextKey { static var defaultValue: LatestKey? { nil } }

    /// On a request: what `latestWins` knows it by; `nil` for a request that cancels none and is cancelled by none.
    public var latestKey: LatestKey? {
        get { self[LatestKeyKey.self] }
        set { self[LatestKeyKey.self] = newValue }
    }
}

extension Interceptor where Self == LatestWinsInterceptor {
    /// Cancels a request when a later one comes under the same key (``HTTPContext/latestKey``): see
    /// ``LatestWinsInterceptor``.
    public static func latestWins() -> Self { Self() }
}
