import ExampleInterceptors
import Foundation
import Interceptors
import InterceptorsTesting
import Synchronization

// Runs each example interceptor once against servers in memory, and prints what happens. It fails if one doesn't do its work.

func check(_ condition: Bool, _ text: String) throws {
    guard condition else { throw Wrong(description: "Wrong: \(text)") }
    print("  \(text)")
}

struct Wrong: Error, CustomStringConvertible {
    let description: String
}

func failover() async throws {
    print("Failover to a second server")
    let stub = StubTransport()
    stub.on(.get, "https://one.example/**", .status(503))
    stub.on(.get, "https://two.example/**", .json(#"{"id":42}"#))
    let first = try HTTPRequest(string: "https://one.example").url
    let second = try HTTPRequest(string: "https://two.example").url
    guard let origin = Origin(first) else { throw Wrong(description: "\(first) has no origin.") }
    let client = Client(baseURL: first, interceptors: [.failover(from: origin, to: second)], transport: stub)
    let response = try await client.send(HTTPRequest(string: "https://one.example/users/42"))
    try check(response.url?.host() == "two.example", "one.example has failed, two.example has answered")
    try check(stub.requests.count == 2, "two requests were sent")
}

func bulkhead() async throws {
    print("Bulkhead by tenant")
    let stub = StubTransport()
    stub.on(.get, "/slow", .neverAnswer)
    stub.on(.get, "/report", .json("{}"))
    let base = try HTTPRequest(string: "https://api.example").url
    let client = Client(baseURL: base, interceptors: [BulkheadInterceptor(limit: 1)], transport: stub)
    let slow = Task { try await client.get("/slow", context: .with(\.tenant, "acme")) }
    await stub.requests(atLeast: 1)
    do {
        try await client.get("/report", context: .with(\.tenant, "acme"))
        throw Wrong(description: "Wrong: a second call of acme was sent")
    } catch let error as BulkheadError {
        print("  acme has a slow call, and its second one is refused: \(error.code)")
    }
    try await client.get("/report", context: .with(\.tenant, "globex"))
    try check(stub.requests.count == 2, "globex isn't affected")
    slow.cancel()
    _ = try? await slow.value
}

func unseal() async throws {
    print("Stream that is opened while it arrives")
    // A real program calls AES.GCM. This cipher hides nothing.
    let cipher = { @Sendable (data: Data) in Data(data.map { $0 ^ 0x5A }) }
    let sealed = ["Hello, ", "sealed ", "world"].map { text in
        Data([0, 0, 0, UInt8(text.utf8.count)]) + cipher(Data(text.utf8))
    }
    let stub = StubTransport()
    // The chunks of the network don't end where the frames end.
    let all = sealed.reduce(Data(), +)
    let chunks = stride(from: 0, to: all.count, by: 5).map { Data(all[$0..<min($0 + 5, all.count)]) }
    stub.on(.get, "/**", .stream(chunks))
    let chain = InterceptorChain([UnsealInterceptor(open: cipher)], transport: stub)
    var request = try HTTPRequest(string: "https://api.example/letter")
    request.context.responseBody = .streamed
    let body = try await chain.send(request).body
    var parts: [String] = []
    for try await part in body { parts.append(String(decoding: part, as: UTF8.self)) }
    try check(parts == ["Hello, ", "sealed ", "world"], "\(chunks.count) chunks became \(parts)")
}

func outbox() async throws {
    print("Outbox for POSTs without a network")
    let folder = FileManager.default.temporaryDirectory.appending(path: "Outbox-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let stub = StubTransport()
    stub.on(.post, "/orders", .status(201))
    let isOffline = Mutex(true)
    let network: AnyInterceptor = .faults(.failure(.offline)) { isOffline.withLock { $0 } }
    let outbox = OutboxInterceptor(folder: folder)
    let base = try HTTPRequest(string: "https://shop.example").url
    let client = Client(baseURL: base, interceptors: [outbox, network], transport: stub)

    let order = HTTPRequest(method: .post, url: base.appending(path: "orders"), body: "two books")
    try check(try await client.send(order).status == 202, "offline: the order is kept, and the caller gets a 202")
    isOffline.withLock { $0 = false }
    try await outbox.sendAll(with: client)
    try await outbox.sendAll(with: client)
    let keys = stub.requests.compactMap { $0.headers[.idempotencyKey] }
    try check(keys.count == 1, "online: the order is sent once, with a key by which the server recognises it")
}

do {
    try await failover()
    try await bulkhead()
    try await unseal()
    try await outbox()
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
