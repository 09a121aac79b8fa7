import Foundation
import Interceptors
import InterceptorsTestSupport

// CacheProcess write DIRECTORY SEED TIME      stores, updates and removes, until the kernel kills the process after TIME
//                                             microseconds of processor time, at any point
// CacheProcess hammer DIRECTORY SEED COUNT    changes entries COUNT times, reads a key after each change, and exits with 1
//                                             if a body is wrong
// CacheProcess full DIRECTORY                 sends two requests for 300 kB, with files limited to 100 kB
// CacheProcess variants DIRECTORY             replaces one of three variants, while a file can hold 8 kB, less than their record
// CacheProcess small DIRECTORY                sends two requests for 300 kB, without a limit, on a disk that is small

let arguments = CommandLine.arguments
guard arguments.count >= 3 else { exit(64) }
let store = DiskCacheStore(at: URL(filePath: arguments[2]), byteLimit: 4 << 20, entryLimit: 30)
let seed = arguments.count > 3 ? UInt64(arguments[3]) ?? 0 : 0

func key(_ number: Int) -> CacheKey? {
    URL(string: "https://a.example/\(number)").flatMap { CacheKey(url: $0, partition: "p") }
}

func change(_ generator: inout SeededGenerator) async throws {
    let number = Int.random(in: 0..<40, using: &generator)
    guard let key = key(number) else { exit(65) }
    switch Int.random(in: 0..<20, using: &generator) {
    case 0: try await store.removeAll(of: key)
    case 1...4:
        for entry in try await store.entries(for: key) {
            var response = entry.response
            response.responseTime += 1
            try await store.update(entry.id, of: key, to: response)
        }
    default:
        let version = UInt64.random(in: 0..<1_000, using: &generator)
        let body = CacheFill.body(number, version)
        let response = CachedResponse(
            status: 200,
            headers: ["X-Version": String(version)],
            selectingFields: version % 3 == 0 ? ["X-Variant": String(version % 5)] : [:],
            responseTime: 0
        )
        let writer = try await store.write(response, for: key, replacing: [], length: nil)
        var rest = body[...]
        while !rest.isEmpty {
            let part = rest.prefix(50_000)
            try await writer.append(Data(part))
            rest = rest.dropFirst(part.count)
        }
        if version % 7 == 1 { writer.abandon() } else { _ = try await writer.commit { _ in true } }
    }
}

/// Whether every entry under a random key holds the body that its version calls for.
func isWhole(_ generator: inout SeededGenerator) async throws -> Bool {
    let number = Int.random(in: 0..<40, using: &generator)
    guard let key = key(number) else { exit(65) }
    for entry in try await store.entries(for: key) {
        guard let version = entry.response.headers["X-Version"].flatMap({ UInt64($0) }) else { return false }
        do {
            let body = try await entry.body().collect(upTo: 1 << 20)
            if body != CacheFill.body(number, version) { return false }
        } catch let error as CacheStoreError where error.code == .entryGone {
            // The other process replaced the entry between the two calls: a miss.
        }
    }
    return true
}

func work(endless: Bool, count: Int) async throws {
    var generator = SeededGenerator(seed: seed)
    var done = 0
    while endless || done < count {
        try await change(&generator)
        if !endless {
            guard try await isWhole(&generator) else { exit(1) }
        }
        done += 1
    }
}

/// A transport whose responses are larger than a file may become.
struct LongAnswers: Transport {
    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let body = Data(repeating: 7, count: 300_000)
        return HTTPResponse(
            status: 200,
            headers: [.cacheControl: "max-age=60"],
            body: HTTPBody(body),
            url: request.url
        )
    }
}

/// A transport whose responses vary by `X-Variant`. The request's `X-Length` sets the body's length.
struct Variants: Transport {
    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let body = Data(repeating: 7, count: request.headers["X-Length"].flatMap { Int($0) } ?? 5_000)
        return HTTPResponse(
            status: 200,
            headers: [.cacheControl: "max-age=60", .vary: "X-Variant"],
            body: HTTPBody(body),
            url: request.url
        )
    }
}

func ask(_ chain: InterceptorChain, _ variant: String, length: Int? = nil) async throws {
    guard let url = URL(string: "https://a.example/varied") else { exit(65) }
    var request = HTTPRequest(url: url, headers: ["X-Variant": variant])
    if let length {
        request.headers["X-Length"] = String(length)
        request.context.cacheMode = .reload
    }
    let response = try await chain.send(request)
    print(variant, response.context.cacheOutcome?.result.description ?? "", response.body.length ?? 0)
}

switch arguments[1] {
case "write":
    ProcessLimits.killAfter(microseconds: arguments.last.flatMap { Int($0) } ?? 0)
    try await work(endless: true, count: 0)
case "hammer":
    try await work(endless: false, count: Int(arguments.last ?? "") ?? 0)
case "full", "small":
    if arguments[1] == "full" { ProcessLimits.limitFiles(to: 100_000) }
    let chain = InterceptorChain([.cache(store, report: { print($0) })], transport: LongAnswers())
    guard let url = URL(string: "https://a.example/long") else { exit(65) }
    for _ in 0..<2 {
        let response = try await chain.send(HTTPRequest(url: url))
        print(response.body.length ?? 0, response.context.cacheOutcome?.storing.description ?? "")
    }
case "variants":
    let chain = InterceptorChain([.cache(store, report: { print($0) })], transport: Variants())
    for variant in ["one", "two", "three"] { try await ask(chain, variant) }
    ProcessLimits.limitFiles(to: 8_000)
    try await ask(chain, "two", length: 9_000)
    for variant in ["one", "two", "three"] { try await ask(chain, variant, length: nil) }
default: exit(64)
}
