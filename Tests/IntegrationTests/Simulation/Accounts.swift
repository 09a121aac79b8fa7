import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization

@testable import InterceptorsMiddlewares

/// Two accounts that share a chain, and the credentials that show a request's account.
///
/// Either one account at a time is signed in, or each call has an account, which its request names as the partition.
final class Accounts: Sendable {
    static let names = ["ada", "bob"]

    private struct State {
        var current: String?
        /// The accounts that were signed in, with the time of each change.
        var history: [(since: Duration, account: String?)] = []
        var onChange: [@Sendable (String?) -> Void] = []
        var areNamedByTokens = false
    }

    let world: World
    /// Whether each call has an account that its request names.
    let isOfEachCall: Bool
    private let state: Mutex<State>

    init(_ world: World, isOfEachCall: Bool, signedIn account: String?) {
        self.world = world
        self.isOfEachCall = isOfEachCall
        state = Mutex(State(current: account, history: [(.zero, account)]))
    }

    var current: String? { state.withLock(\.current) }

    /// Whether the chain names partitions by its tokens. Then a request's other credentials tell no callers apart.
    var areNamedByTokens: Bool {
        get { state.withLock(\.areNamedByTokens) }
        set { state.withLock { $0.areNamedByTokens = newValue } }
    }

    func change(to account: String?) {
        world.note("\(account ?? "nobody") is signed in")
        let (now, onChange) = (world.clock.now.elapsed, state.withLock(\.onChange))
        state.withLock { state in
            state.current = account
            state.history.append((now, account))
        }
        for change in onChange { change(account) }
    }

    /// Calls the closure with the signed-in account, now and after each change.
    func follow(_ change: @escaping @Sendable (String?) -> Void) {
        if isOfEachCall { return }
        change(current)
        state.withLock { $0.onChange.append(change) }
    }

    /// The account whose credentials a request gets now.
    func account(of request: HTTPRequest) -> String? { isOfEachCall ? request.context.simulatedAccount : current }

    /// The accounts that may see the response to a request that began at `start`.
    func permitted(_ request: HTTPRequest, since start: Duration) -> Set<String> {
        if isOfEachCall { return Set([request.context.simulatedAccount].compactMap { $0 }) }
        return state.withLock { state in
            let before = state.history.last { $0.since < start }
            let during = state.history.filter { $0.since >= start }
            return Set(([before].compactMap { $0 } + during).compactMap(\.account))
        }
    }

    /// An interceptor that forwards to the one for the request's account, or a single one that follows sign-ins.
    func interceptor(_ make: (String?) -> any Interceptor) -> any Interceptor {
        guard isOfEachCall else { return make(nil) }
        let (ada, bob) = (make("ada"), make("bob"))
        return AnyInterceptor.intercept { request, next in
            switch request.context.simulatedAccount {
            case "ada": try await ada.intercept(request, next: next)
            case "bob": try await bob.intercept(request, next: next)
            default: try await next(request)
            }
        }
    }

    /// Names a call's account as its partition.
    static let partition: some Interceptor = AnyInterceptor.intercept { request, next in
        var request = request
        request.context.cachePartition = request.context.simulatedAccount
        return try await next(request)
    }
}

/// Adds the key of the request's account, to one origin only.
struct AccountKeyInterceptor: Interceptor {
    let accounts: Accounts
    let origin: Origin
    /// Whether the interceptor declares its credential, as it should, or relies on the chain to notice.
    let asksBefore: Bool

    static func secret(of account: String) -> String { "key-secret-\(account)-end" }

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard Origin(request.url) == origin else { return try await next(request) }
        if asksBefore { try request.requireUnshared(by: "accountKey") }
        if let account = accounts.account(of: request) {
            let name: HTTPField.Name = asksBefore ? "X-Account-Token" : "X-Silent-Token"
            request.headers[name] = Self.secret(of: account)
        }
        return try await next(request)
    }
}

extension World {
    /// The accounts whose credentials are in a request.
    func accounts(of request: HTTPRequest) -> [String] {
        let text = request.headers.map(\.value).joined(separator: "\n")
        return Accounts.names.filter { account in
            secrets(of: account).contains { text.contains($0) }
        }
    }
}

extension HTTPContext {
    private enum AccountKey: HTTPContextKey { static var defaultValue: String? { nil } }

    /// The call's account, if it has one.
    var simulatedAccount: String? {
        get { self[AccountKey.self] }
        set { self[AccountKey.self] = newValue }
    }
}
