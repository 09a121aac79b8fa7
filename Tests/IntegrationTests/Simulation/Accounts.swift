import Foundation
import Synchronization
import TestSupport
import TransportTesting

@testable import Middlewares

/// Two accounts that use one chain, and what shows which of them a request is of.
///
/// Either one account at a time is signed in, or each call has an account and names it as its partition.
final class Accounts: Sendable {
    static let names = ["ada", "bob"]

    private struct State {
        var current: String?
        /// The account signed in from each moment on.
        var history: [(since: Duration, account: String?)] = []
        var onChange: [@Sendable (String?) -> Void] = []
        var areNamedByTokens = false
    }

    let world: World
    /// Whether each call has an account, and its request names it.
    let isOfEachCall: Bool
    private let state: Mutex<State>

    init(_ world: World, isOfEachCall: Bool, signedIn account: String?) {
        self.world = world
        self.isOfEachCall = isOfEachCall
        state = Mutex(State(current: account, history: [(.zero, account)]))
    }

    var current: String? { state.withLock(\.current) }

    /// Whether the chain names partitions by its tokens. Then other credentials of a request tell no callers apart.
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

    /// Calls a closure with who is signed in, at once and after each change.
    func follow(_ change: @escaping @Sendable (String?) -> Void) {
        if isOfEachCall { return }
        change(current)
        state.withLock { $0.onChange.append(change) }
    }

    /// Whose credentials a request gets now.
    func account(of request: HTTPRequest) -> String? { isOfEachCall ? request.context.simulatedAccount : current }

    /// The accounts that may see the response to a request that began at a moment.
    func permitted(_ request: HTTPRequest, since start: Duration) -> Set<String> {
        if isOfEachCall { return Set([request.context.simulatedAccount].compactMap { $0 }) }
        return state.withLock { state in
            let before = state.history.last { $0.since < start }
            let during = state.history.filter { $0.since >= start }
            return Set(([before].compactMap { $0 } + during).compactMap(\.account))
        }
    }

    /// An interceptor for each account, of which the one of the request works; one for all if they follow the change.
    func interceptor(_ make: (String?) -> any Interceptor) -> any Interceptor {
        guard isOfEachCall else { return make(nil) }
        let (ada, bob) = (make("ada"), make("bob"))
        return ClosureInterceptor { request, next in
            switch request.context.simulatedAccount {
            case "ada": try await ada.intercept(request, next: next)
            case "bob": try await bob.intercept(request, next: next)
            default: try await next(request)
            }
        }
    }

    /// Names the account of a call as its partition.
    static let partition: some Interceptor = ClosureInterceptor { request, next in
        var request = request
        request.context.cachePartition = request.context.simulatedAccount
        return try await next(request)
    }
}

/// Adds the key of the account that a request is of, to one origin.
struct AccountKeyInterceptor: Interceptor {
    let accounts: Accounts
    let origin: Origin
    /// Whether it says that it adds a credential, as it should, or leaves that to the chain.
    let asksBefore: Bool

    static func secret(of account: String) -> String { "key-secret-\(account)-end" }

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard Origin(request.url) == origin else { return try await next(request) }
        if asksBefore { try request.requireUnshared(by: "accountKey") }
        if let account = accounts.account(of: request) {
            let name: HTTPField.Name = asksBefore ? "X-Account-Token" : "X-Silent-Token"
            request.headerFields[name] = Self.secret(of: account)
        }
        return try await next(request)
    }
}

extension World {
    /// The accounts whose credentials a request shows.
    func accounts(of request: HTTPRequest) -> [String] {
        let text = request.headerFields.map(\.value).joined(separator: "\n")
        return Accounts.names.filter { account in
            secrets(of: account).contains { text.contains($0) }
        }
    }
}

extension HTTPContext {
    private enum AccountKey: HTTPContextKey { static var defaultValue: String? { nil } }

    /// The account of a call that has one.
    var simulatedAccount: String? {
        get { self[AccountKey.self] }
        set { self[AccountKey.self] = newValue }
    }
}
