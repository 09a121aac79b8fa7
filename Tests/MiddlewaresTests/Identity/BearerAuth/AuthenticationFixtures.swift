import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

/// A server that answers 200 to the tokens it accepts, and 401 to anything else.
final class TokenServer: Transport {
    let requests = Shared<[HTTPRequest]>([])
    let bodies = Shared<[Data]>([])
    let accepted: Shared<Set<String>>
    /// Runs between a request's arrival and its answer.
    private let onRequest: @Sendable (HTTPRequest) async throws -> Void

    init(accepting accepted: Set<String>, onRequest: @escaping @Sendable (HTTPRequest) async throws -> Void = { _ in })
    {
        self.accepted = Shared(accepted)
        self.onRequest = onRequest
    }

    /// The `Authorization` field of each request received, in order; "-" if absent.
    var authorizations: [String] { requests.value.map { $0.headers[.authorization] ?? "-" } }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try request.validate()
        requests.change { $0.append(request) }
        let body = try await request.body.collect(upTo: 1 << 20)
        bodies.change { $0.append(body) }
        let token = request.headers[.authorization].map { String($0.dropFirst("Bearer ".count)) }
        let status: HTTPResponse.Status = token.map(accepted.value.contains) ?? false ? 200 : 401
        try await onRequest(request)
        return HTTPResponse(status: status, body: HTTPBody("\(status.code)"), url: request.url)
    }
}

let apiURL = URL(string: "https://api.example.com/users/42")!
let apiOrigin = Origin(apiURL)!

extension TokenStore.Token {
    static let old = Self("old", refreshToken: "refresh-old")
    static let new = Self("new", refreshToken: "refresh-new")
}

struct RefreshRefused: Error, Equatable {
    var attempt = 1
}

/// Expects an error that says that a refresh failed, and why.
func expectRefreshFailed<Value>(
    _ cause: RefreshRefused,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Value
) async {
    let error = await #expect(throws: AuthenticationError.self, sourceLocation: sourceLocation) { _ = try await body() }
    #expect(error?.code == .refreshFailed, sourceLocation: sourceLocation)
    #expect(error?.underlying as? RefreshRefused == cause, sourceLocation: sourceLocation)
}

/// `retryOnUnauthorized` and `bearerAuth` in the right order, in front of a transport.
func authenticatingChain(_ tokens: TokenStore, _ transport: any Transport) -> InterceptorChain {
    InterceptorChain([.retryOnUnauthorized(tokens), .bearerAuth(tokens)], transport: transport)
}

extension Transport {
    /// The status of a GET of the API.
    func get(_ url: URL = apiURL) async throws -> HTTPResponse.Status {
        try await send(HTTPRequest(url: url)).status
    }
}

/// Opens the latch when `count` tasks wait for a refresh at once.
func opening(_ latch: Latch, when count: Int) -> @Sendable (RefreshEvent) -> Void {
    { if case .waiting(count) = $0 { latch.open() } }
}

/// Counts the tasks that begin to wait for a refresh.
func counting(_ tally: Tally) -> @Sendable (RefreshEvent) -> Void {
    { if case .waiting = $0 { tally.count() } }
}

extension TokenStore {
    /// A store whose refreshes a test observes.
    convenience init(
        _ initial: Token? = nil,
        origins: Set<Origin>? = nil,
        leeway: Duration = .seconds(30),
        fetchesFirstToken: Bool = false,
        pause: Duration = .seconds(10),
        time: TimeSource = .system,
        persist: (@Sendable (Token?) async -> Void)? = nil,
        onSignOut: @escaping @Sendable (AuthenticationError) -> Void = { _ in },
        observe: @escaping @Sendable (RefreshEvent) -> Void,
        refresh: @escaping @Sendable (_ rejected: Token?) async throws -> Token
    ) {
        var options = Options(
            leeway: leeway,
            fetchesFirstToken: fetchesFirstToken,
            pause: pause,
            persist: persist,
            onSignOut: onSignOut
        )
        options.observe = observe
        self.init(initial, origins: origins, options: options, time: time, refresh: refresh)
    }
}
