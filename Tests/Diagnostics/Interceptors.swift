// Interceptors in a chain, with the compiler's answers. Scripts/check-diagnostics compiles each block separately.

// The closure of a cache receives errors.
// compiles
let chain: [any Interceptor] = [.cache(store) { (error: any Error) in print(error) }, .cache(.memory()) { print($0) }]

// The closure of a signer selects requests.
// compiles
let signer: RequestSigner = .awsV4(region: "eu", service: "s3") { credentials }
let chain: [any Interceptor] = [.sign(signer) { $0.method == .post }]

// A signer from a closure, for several chains.
// compiles
let signer = RequestSigner { request, date in request.headers["X-Signed-At"] = "\(date.timeIntervalSince1970)" }
let chain: [any Interceptor] = [.sign(signer, origins: [origin])]

// The closure of a breaker is called with each change of state.
// compiles
let chain: [any Interceptor] = [
    .circuitBreaker { origin, old, new in print(origin, old, new) },
    .circuitBreaker(.consecutiveFailures(3), failures: .hostFailure || .status(507)) { print($0, $2) },
]

// The other closures, and the time of a test.
// compiles
let chain: [any Interceptor] = [
    .metrics(time: .manual(clock)) { print($0) },
    .retry(time: .manual(clock)),
    .retryOnUnauthorized(time: .manual(clock)) { try await logIn() },
    .hedge(after: .seconds(1), time: .manual(clock)) { (try? $0.get())?.status == 200 },
    .cache(.memory(), time: .manual(clock)) { print($0) },
    .timeout(.seconds(3), time: TimeSource(clock: SuspendingClock())),
]

// A clock is part of a time.
// error: cannot convert value of type 'ContinuousClock' to expected argument type 'TimeSource'
let interceptor: AnyInterceptor = .retry(time: ContinuousClock())

// The short spellings.
// compiles
let chain: [any Interceptor] = [
    .cancelPrevious(debounce: .milliseconds(300)), .retry(maxAttempts: 3), .bearerAuth("token"),
    .bearerAuth("token", for: origin),
    .bearerAuth { try await session.token() }, .cache(.memory()), .cache(.disk(at: caches)), .logging(),
]
let client = Client(baseURL: url, interceptors: chain, transport: .stub(.json("{}"), .status(503)))
let other = Client(baseURL: url, transport: .stub { _ in HTTPResponse(status: 204) })
let pinned = Client(baseURL: url, transport: .platform(tls: .pinned(certificatesIn: .main)))
let problem: Problem = try await api.get("/users/42", context: .with(\.validatesStatus, false))

// The outcomes to repeat, named beside the number.
// compiles
let interceptor: AnyInterceptor = .retry(maxAttempts: 3, when: .temporaryFailure || .status(409))

// A number without a label.
// error: Write `.retry(maxAttempts: 3)`, which counts the first attempt too.
let chain: [any Interceptor] = [.retry(3)]

// A store of any type.
// compiles
let anyStore: any CacheStore = store
let chain: [any Interceptor] = [
    .cache(anyStore), .cache(.memory()), .cache(.disk(at: caches)), .cache(MemoryCacheStore()),
]

// A response's content through a closure, in two ways that both discard the source of what isn't read.
// compiles
let interceptor: AnyInterceptor = .intercept { request, next in
    var response = try await next(request)
    response.body = .oneShot(response.body.map { Data($0.reversed()) })
    response.body = response.body.map { Data($0.reversed()) }.onEnd { _ in }
    return response
}

// Own interceptors beside the ready-made ones, with a factory or without.
// compiles
let chain: [any Interceptor] = [
    .retry(maxAttempts: 3), .appVersion("4.2"), AppVersion(text: "4.2"), .hiddenAppVersion("4.2"), .logging(),
]
let one: some Interceptor = .retry(maxAttempts: 3)
let other: some Interceptor = .appVersion("4.2")
let hidden: [AnyInterceptor] = [.retry(maxAttempts: 3), .hiddenAppVersion("4.2")]

// The closures whose default is the package's.
// compiles
let chain: [any Interceptor] = [
    .transactionID { "\(UUID())" }, .unwrapEnvelope(payload: "object") { $0.kind == .successful },
    .coalesce { $0.url.host() },
    .cache(store, isDisconnection: { $0.isDisconnection || $0.isOffline }), .followRedirects { _, _ in nil },
    .httpAuth(session: passwords) { realm, origin in nil }, .headers { request in [.accept: "text/plain"] },
]

// Both transports take the same labels in the same order.
// compiles
let clients = [
    Client(baseURL: url, interceptors: [], transport: .urlSession(tls: .system, timeouts: Timeouts(), time: .system)),
    Client(
        baseURL: url,
        interceptors: [],
        transport: CurlTransport(tls: .system, timeouts: Timeouts(), versions: .http1, proxy: .none, time: .system)
    ),
]

// A constant token with a label.
// error: Write `.bearerAuth("token")`, or a closure: `.bearerAuth { token }`.
let chain: [any Interceptor] = [.bearerAuth(token: name)]

// A level with a label.
// error: Write `.logging(.headers)`; the levels are off, basic, headers and body.
let chain: [any Interceptor] = [.logging(level: .headers)]

// A time without a unit.
// error: Write `.timeout(.seconds(5))`.
let chain: [any Interceptor] = [.timeout(5)]

// A chain in a variable needs its type: `let chain: [any Interceptor] = …`. The compiler's answer can't be changed.
// error: type 'Any' has no member 'retry'
let chain = [.retry()]

// compiles
let chain: [any Interceptor] = [.retry()]
let client = Client(baseURL: url, interceptors: chain)

// Names of other libraries in a response.
// error: 'statusCode' has been renamed to 'status.code'
print(try await api.send(HTTPRequest(url: url)).statusCode)

// The fields of a response.
// error: 'headerFields' has been renamed to 'headers'
print(try await api.send(HTTPRequest(url: url)).headerFields)

// The bytes of a response.
// error: Write `try await response.body.collect(upTo: limit)`, or call with `as: Data.self`.
print(try await api.send(HTTPRequest(url: url)).data)

// compiles
let response = try await api.send(HTTPRequest(url: url))
print(response.status.code, response.headers, try await response.body.collect(upTo: 1_000))

// compiles
do {
    try await api.get("/ping")
} catch let error as any HTTPError where error.code == .timedOut || error.code == .queueFull {
    print(error.code)
} catch let error as any HTTPError where error.response?.status == 409 {
    print(try error.decode(User.self))
}

// compiles
let interceptors: [any Interceptor] = [
    .retry(maxAttempts: 3, when: .temporaryFailure || .code(.tlsFailed, HTTPErrorCode(rawValue: "quotaUsedUp")))
]
