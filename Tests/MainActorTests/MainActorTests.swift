import Foundation
import Interceptors
import InterceptorsImages
import InterceptorsStubs
import InterceptorsTransfers
import Testing

// In this target, declarations belong to the main actor unless marked `nonisolated`. The test is that the code
// compiles.

nonisolated struct User: Codable, Equatable {
    let id: Int
}

nonisolated struct GetUser: Endpoint {
    let id: Int
    var request: EndpointRequest<User> { .get("/users/\(id)") }
}

nonisolated enum LanguageKey: HTTPContextKey {
    static var defaultValue: String { "en" }
}

nonisolated extension HTTPContext {
    var language: String {
        get { self[LanguageKey.self] }
        set { self[LanguageKey.self] = newValue }
    }
}

nonisolated struct LanguageInterceptor: Interceptor {
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        request.headers[.acceptLanguage] = request.context.language
        return try await next(request)
    }
}

nonisolated extension HTTPErrorCode {
    static let quotaUsedUp = Self(rawValue: "quotaUsedUp")
}

nonisolated struct QuotaError: HTTPError {
    let code = HTTPErrorCode.quotaUsedUp
    let message = "The quota is used up."
    let request: HTTPRequest.Summary? = nil
    let response: HTTPResponse? = nil
    let underlying: (any Error)? = nil
    var context = HTTPContext()
}

final class Model {
    private let api: Client
    private(set) var users: [User] = []

    init(_ stub: StubTransport) {
        let chain: [any Interceptor] = [
            .validateStatus(), LanguageInterceptor(), .intercept { request, next in try await next(request) },
        ]
        api = Client(baseURL: URL(string: "https://api.example.com"), interceptors: chain, transport: stub)
    }

    func load() async throws {
        users.append(try await api.get("/users/1"))
        users.append(try await api.get("/users/2", as: User.self))
        users.append(try await api.call(GetUser(id: 3)))
        users.append(try await api.post("/users", body: User(id: 4)))
        try await api.put("/users/4", body: User(id: 4))
    }
}

nonisolated struct Beginning: ImageVariant {
    let length: Int

    func image(from content: Data) throws -> Data { content.prefix(length) }
}

final class Cell {
    private let slot = ImageSlot<Data>()
    private(set) var shown: [Data] = []

    func show(_ path: RequestTarget, from images: ImageLoader<Data>) async throws {
        shown.append(try await slot.image(at: path, from: images).image)
        slot.load(at: path, from: images) { [weak self] result in
            if case .success(let loaded) = result { self?.shown.append(loaded.image) }
        }
        shown.append(try await slot.image(at: path, from: images, as: Beginning(length: 2)).image)
    }
}

final class Library {
    private(set) var notes: [String] = []

    func add(_ end: BackgroundTransfer.End) { notes.append(end.transfer.note) }
}

struct MainActorTests {
    @Test func cellOfTheMainActorShowsImages() async throws {
        let stub = StubTransport()
        stub.on(.get, "/a", .text("abcd"))
        let client = Client(baseURL: URL(string: "https://api.example.com"), interceptors: [], transport: stub)
        let images = ImageLoader(client) { content in
            content
        } cost: { image in
            image.count
        }
        let cell = Cell()
        try await cell.show("/a", from: images)
        #expect(cell.shown == ["abcd", "abcd", "ab"].map { Data($0.utf8) })
    }

    @Test func modelOfTheMainActorReceivesTheEndsOfTransfers() async throws {
        let stub = StubTransport()
        stub.enqueue(.text("film"))
        let folder = FileManager.default.temporaryDirectory.appending(path: "main-actor-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = Library()
        let (stream, delivered) = AsyncStream.makeStream(of: Void.self)
        let transfers = try BackgroundTransfers(
            "main-actor",
            preparing: Client(baseURL: URL(string: "https://api.example.com"), interceptors: [], transport: stub),
            session: .inProcess(),
            folder: folder
        ) { end in
            await model.add(end)
            delivered.finish()
        }
        let source = HTTPRequest(method: .put, url: URL(string: "https://api.example.com/a")!, body: "x")
        try await transfers.upload(source, note: "a")
        for await _ in stream {}
        #expect(model.notes == ["a"])
    }

    @Test func appOfTheMainActorCallsAndDecodes() async throws {
        let stub = StubTransport()
        for id in 1...4 { stub.enqueue(.json("{\"id\":\(id)}")) }
        stub.enqueue(.status(204))
        let model = Model(stub)
        try await model.load()
        #expect(model.users == (1...4).map { User(id: $0) })
        #expect(stub.requests.allSatisfy { $0.headers[.acceptLanguage] == "en" })
    }
}
