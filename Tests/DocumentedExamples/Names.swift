import Foundation
import Interceptors
import InterceptorsAuthentication
import InterceptorsImages
import InterceptorsInsight
import InterceptorsRecordings
import InterceptorsTesting
import InterceptorsTraffic
import InterceptorsTransfers

// Names that the documentation's examples use without declaring them. Scripts/check-examples compiles them together
// with the examples; nothing here runs.

func some<T>() -> T { fatalError("Examples are compiled, not run.") }

struct User: Codable, Sendable { let id: Int, name: String }
struct GetUser: Endpoint {
    let id: Int
    var request: EndpointRequest<User> { .get("/users/\(id)") }
}
struct Film: Codable, Sendable { let id: Int, title: String }
struct Photo: Decodable, Sendable { let id: Int }
struct Account: Sendable { let id: String }
struct Picture: Sendable {
    let (width, height): (Int, Int)
    init(decoding content: Data, longestSide: Int = .max) throws { self = some() }
}
typealias NewUser = User
typealias Song = User
struct Problem: Decodable, Sendable { let title: String }
struct Session: Decodable, Sendable { let tokens: TokenStore.Token }
struct Offline: Error {}
struct BadName: Error {}
struct LogInNeeded: Error {}
struct ShortChain: Error {}
struct ErrorPage: Error {}
struct NoIdentity: Error {}

let checksum = Checksum(), chunks = AsyncStream<Data> { nil }
final class Checksum: Sendable {
    func add(_ bytes: Data) {}
    var field: String { some() }
}

struct MyTransport: Transport {
    init(time: TimeSource) {}
    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse { some() }
}

struct MyBridge: Transport {
    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse { some() }
}

typealias MyStore = MemoryCacheStore
typealias MyDiskStore = DiskCacheStore

struct MyRetry: PlacedInterceptor {
    init(time: TimeSource = .system) {}
    var placement: [ChainRole] { [.retries] }
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse { some() }
}

struct UnixLines: AsyncSequence, Sendable {
    typealias Element = Data
    init(body: HTTPBody) {}
    func makeAsyncIterator() -> HTTPBody.AsyncIterator { some() }
}

struct PaceInterceptor: Interceptor {
    init(every interval: Duration, time: TimeSource) {}
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse { some() }
}

struct LanguageInterceptor: Interceptor {
    let language: String
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse { some() }
}

struct AppVersion: Interceptor {
    let text: String
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse { some() }
}
extension Interceptor where Self == AppVersion {
    static func appVersion(_ text: String) -> Self { Self(text: text) }
}
extension Interceptor where Self == AnyInterceptor {
    static func hiddenAppVersion(_ text: String) -> Self { Self(AppVersion(text: text)) }
}

struct Storage: Sendable {
    func load() -> TokenStore.Token? { some() }
    func load() -> [Cookie] { some() }
    func save(_ token: TokenStore.Token?) async {}
    func save(_ cookies: [Cookie]) async {}
    func credential(for realm: String) async -> PasswordCredential? { some() }
    var token: String? { get async { some() } }
}
struct LogInServer: Sendable {
    func callAsFunction() {}
    func exchange(_ refreshToken: String) async throws -> TokenStore.Token { some() }
    func refresh(_ rejected: TokenStore.Token?) async throws -> TokenStore.Token { some() }
    func credentials() async throws -> AWSCredentials { some() }
    func token() async throws -> String { some() }
    var accountID: String { get async { some() } }
}
struct Permits: Sendable {
    func acquire() async throws {}
    func release() {}
}
actor Kept {
    func response(for url: URL, _ caller: Caller) -> HTTPResponse? { nil }
    func keep(_ response: HTTPResponse, for url: URL, _ caller: Caller) {}
}
struct Gate: Sendable { func opened() async {} }
struct Settings: Sendable { var language: String { get async { some() } } }
struct Latency: Sendable { func record(_ duration: Duration, labels: [String]) {} }
final class Digesting: Sendable { func update(_ data: Data) {} }
struct AppTracer: Sendable { func startSpan(_ name: String) -> AppSpan { some() } }
struct AppSpan: Sendable {
    let traceparent: String
    func record(_ error: any Error) {}
    func end() {}
}
struct AppLogger: Sendable { func warning(_ text: String) {} }

func logIn() async throws {}
func showAsOutdated() {}
func show(_ text: String?) {}
func show(_ fraction: Double) {}
func showLogIn(_ error: any Error) {}
@MainActor func show(_ result: Result<User, any Error>) {}
func show(_ user: User) {}
func finish(_ completion: some Any) {}

let url: URL = some()
let transfers: BackgroundTransfers = some()
let clips: BackgroundTransfers = some()
let folder: URL = some()
let baseURL = url, nextURL = url, newsURL = url, filmURL = url
let proxyURL = url, photo = url, file = url, cachesDirectory = url, caches = url, downloads = url
let harFile = url, htmlFile = url
let journal = Journal()
let isDebugBuild = true
let rootURL = url, rootsURL = url, archiveURL = url, certificateURL = url, certificatesURL = url, keyURL = url
let archive: Data = some(), sum: String = some()
let (name, password, secret, title, builtInKey): (String, String, String, String, String) = some()
let id: Int = some()
let (version, term, orderID, untrusted, textFromTheServer, key): (Int, String, String, String, String, String) = some()
let (cursor, lastID): (String?, String?) = some()
let newUser: User = some()
let film: Film = some()
let account: Account = some()
let cell: User = some()
let order: HTTPBody = some()
let form: RequestBody = some()

let hasher = Digesting()
let incoming: HTTPFields = some()

let api: Client = some()
let client = api
let images: ImageLoader<Picture> = some()
let transport: any Transport = some()
let chain: [any Interceptor] = some()
let tokens: TokenStore = some()
let jar: CookieJar = some()
let passwords: PasswordSession = some()
let origin: Origin = some()
let store: DiskCacheStore = some()
let stub: StubTransport = some()
let server: MockServer = some()
let clock: ManualClock = some()
let keychain = Storage(), storage = Storage()
let logInServer = LogInServer(), signIn = logInServer, session = LogInServer()
let credentials: AWSCredentials = some()
let permits = Permits(), gate = Gate(), settings = Settings(), latency = Latency(), logger = AppLogger()
let tracer = AppTracer()

// The upload that an earlier launch saved.
let saved: UnfinishedUpload? = some()
func remember(_ upload: UnfinishedUpload?) {}
