import FilmsModel
import Foundation
import Interceptors
import InterceptorsInsight
import InterceptorsTesting
import Testing

/// The model of the app in `Examples/Films.swiftpm`, over its server in memory.
@MainActor @Suite(.timeLimit(.minutes(60))) struct FilmsTests {
    private let server = DemoServer()
    /// Has no stubs: keeps the requests, and passes them to the server.
    private let wire: StubTransport
    private let clock = ManualClock()
    private let store = MemoryCacheStore()
    private let api: FilmsAPI
    private let library: FilmLibrary

    init() {
        wire = StubTransport(fallback: server)
        api = FilmsAPI(transport: wire, store: store, time: .manual(clock))
        library = FilmLibrary(api)
    }

    private var paths: [String] { wire.requests.map(\.url.path) }
    private var titles: [String] { library.films.map(\.title) }

    private func signIn() async { await library.signIn(name: "ada", password: "popcorn") }

    @Test func signInLoadsTheFilms() async throws {
        await library.signIn(name: "ada", password: "wrong")
        #expect(!library.isSignedIn && library.errorText != nil && titles.isEmpty)
        await signIn()
        #expect(library.isSignedIn && library.errorText == nil && titles.first == "Metropolis")
        #expect(paths == ["/login", "/login", "/films"])
        let poster: Data = try await api.client.get(.init(text: library.films[0].poster))
        #expect(poster.starts(with: Data("GIF89a".utf8)))
        #expect(api.client.chain.findings.isEmpty)
    }

    @Test func expiredTokenIsRefreshedUnseen() async {
        await signIn()
        server.expireToken()
        await library.refresh()
        #expect(library.isSignedIn && library.errorText == nil && titles.count == 5)
        #expect(paths.suffix(3) == ["/films", "/refresh", "/films"])
    }

    @Test func endedSessionSignsOut() async {
        await signIn()
        server.endSession()
        await library.refresh()
        #expect(!library.isSignedIn && library.errorText != nil && titles.isEmpty)
    }

    @Test func laterSearchCancelsTheEarlierUnsent() async {
        await signIn()
        library.searchText = "m"
        let first = Task { await library.load() }
        await clock.sleepers(1)
        library.searchText = "metro"
        let second = Task { await library.load() }
        await first.value
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(300))
        await second.value
        #expect(titles == ["Metropolis"] && library.errorText == nil)
        #expect(wire.requests.compactMap { $0.url.query() } == ["title=metro"])
    }

    @Test func offlineShowsStoredFilmsAndSaysSo() async throws {
        await signIn()
        server.isOffline = true
        try await clock.run { [library] in await library.refresh() }
        #expect(library.isShowingStored && titles.count == 5 && library.errorText == nil)
        library.searchText = "window"
        try await clock.run { [library] in await library.load() }
        #expect(library.isShowingStored && titles == ["Rear Window"])
        library.searchText = ""
        server.isOffline = false
        await library.refresh()
        #expect(!library.isShowingStored && titles.count == 5)
    }

    @Test func pullToRefreshAsksTheServerAgain() async {
        await signIn()
        server.add("Heat", 1995)
        await library.load()
        #expect(titles.count == 5)
        await library.refresh()
        #expect(titles.last == "Heat")
    }

    @Test func signOutForgetsTheAccount() async throws {
        await signIn()
        #expect(try await store.listing().contains { $0.key.partition == "ada" })
        await library.signOut()
        await library.load()
        #expect(!library.isSignedIn && titles.isEmpty && library.errorText == nil)
        #expect(try await !store.listing().contains { $0.key.partition == "ada" })
        #expect(paths == ["/login", "/films"])
    }

    @Test func journalShowsEachCallWithoutSecrets() async {
        await signIn()
        let text = api.journal.calls.map(\.explained).joined()
        #expect(api.journal.calls.count == 2)
        #expect(text.contains("POST https://films.example/login") && text.contains("GET https://films.example/films"))
        #expect(!text.contains("popcorn") && !text.contains("token-1"))
    }
}
