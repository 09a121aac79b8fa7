internal import Foundation
public import Interceptors
public import InterceptorsInsight
internal import InterceptorsTraffic

/// The server's API: one client, which signs in, stores responses, and records each call in a journal.
public struct FilmsAPI: Sendable {
    private struct Session: Decodable, Sendable {
        let token: String
        let refreshToken: String
    }

    /// Sends the calls, also those for posters.
    public let client: Client
    /// The calls, for the debug screen.
    public let journal = Journal()
    private let tokens: TokenStore
    private let store: any CacheStore

    /// Creates a client that nobody has signed in to. An app that stays signed in keeps the token in the keychain, with the
    /// `persist` of `TokenStore.Options`.
    ///
    /// - Parameters:
    ///   - transport: the transport; an app with a server passes `.platform()`.
    ///   - store: keeps responses, for each account apart.
    ///   - time: measures the waits.
    public init(transport: any Transport, store: any CacheStore, time: TimeSource = .system) {
        tokens = TokenStore { rejected, api in
            do {
                let session: Session = try await api.post("/refresh", body: ["refreshToken": rejected?.refreshToken])
                return TokenStore.Token(session.token, refreshToken: session.refreshToken)
            } catch let error as any HTTPError where error.response?.status == 400 {
                throw AuthenticationError.signedOut(because: error)
            }
        }
        self.store = store
        // The account names the part of the cache, so that stored films outlive a token.
        let first: [any Interceptor] = [
            .cancelPrevious(debounce: .milliseconds(300), time: time), .partition(by: tokens),
        ]
        let retry: any Interceptor = .retry(maxAttempts: 3, time: time)
        client = Client(
            baseURL: URL(string: "https://films.example"),
            interceptors: first + .standard(tokens, cache: .cache(store), retry: retry, log: nil),
            transport: transport,
            observer: journal
        )
    }

    /// The account that is signed in.
    var account: String? { tokens.current?.account }

    func signIn(_ name: String, password: String) async throws {
        let login = ["name": name, "password": password]
        let session: Session = try await client.post("/login", body: login, context: .with(\.authorization, .omitted))
        tokens.signIn(TokenStore.Token(session.token, refreshToken: session.refreshToken, account: name))
    }

    func signOut() async {
        let account = account
        tokens.signOut()
        // If this fails, the store finds the responses no more, and tries again.
        if let account { try? await store.removeAll(partition: account) }
    }

    /// The films whose title contains a text, or those among the stored films if the server can't be reached.
    func films(titled text: String, mode: CacheMode) async throws -> (films: [Film], areStored: Bool) {
        let title = text.isEmpty ? nil : text
        let context = HTTPContext.with(\.cacheMode, mode).with(\.latestKey, title.map { _ in "search" })
        do {
            let (films, response): ([Film], _) = try await client.response(
                "/films",
                query: ["title": title],
                context: context
            )
            return (films, response.context.cacheOutcome?.result == .stale)
        } catch {
            let offline: HTTPContext = .with(\.cacheMode, .offline)
            guard error.isDisconnection, let films = try? await client.get("/films", as: [Film].self, context: offline)
            else { throw error }
            return (films.filter { $0.isFound(by: text) }, true)
        }
    }
}

extension Film {
    func isFound(by text: String) -> Bool { text.isEmpty || title.localizedStandardContains(text) }
}
