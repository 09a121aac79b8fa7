import Foundation
import Harness
import InterceptorsRecordings

// Measures responses that play from a recording, and the same responses from a stub.

/// The same request may come any number of times, so the recordings repeat their last response.
let count = 100
let folder = FileManager.default.temporaryDirectory.appending(path: "recording-benchmarks-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

func request(_ number: Int, posting body: HTTPBody = .empty) throws -> HTTPRequest {
    guard let url = URL(string: "https://api.example.com/v1/things/\(number)?page=2&sort=name") else {
        throw CocoaError(.formatting)
    }
    let fields: HTTPFields = [
        .accept: "application/json", .authorization: "Bearer abcdefghijklmnop", .userAgent: "App/1.0",
    ]
    return HTTPRequest(method: body.isEmpty ? .get : .post, url: url, headers: fields, body: body)
}

@concurrent
func send(_ requests: [HTTPRequest], _ transport: any Transport, times: Int) async throws {
    for index in 0..<times { _ = try await transport.send(requests[index % requests.count]) }
}

let answerFields: HTTPFields = [
    .contentType: "application/json", .date: "Sun, 06 Nov 1994 08:49:37 GMT", .cacheControl: "max-age=60",
    .eTag: "\"1\"",
]
let answerBody = HTTPBody(String(repeating: #"{"id":42,"name":"Ada"},"#, count: 90))
let stub = StubTransport { _ in
    HTTPResponse(status: 200, headers: answerFields, body: answerBody)
}

func recorded(_ requests: [HTTPRequest], _ name: String) async throws -> any Transport {
    let file = folder.appending(path: name)
    let tape = Recording(at: file, mode: .all, environment: [:])
    try await send(requests, .recorded(tape, over: stub), times: requests.count)
    try tape.finish()
    return RecordedTransport.recorded(
        Recording(at: file, mode: .none, repeatingLast: true, environment: [:]),
        over: stub
    )
}

let gets = try (0..<count).map { try request($0) }
let posts = try (0..<count).map { number in
    try request(number, posting: HTTPBody(#"{"id":\#(number),"name":"Ada","tags":["a","b"]}"#))
}
let (getTape, postTape) = (try await recorded(gets, "gets.har"), try await recorded(posts, "posts.har"))
let costs = try await compare(
    "A response of 2 kB that plays from a recording of 100",
    repetitions: 5_000,
    [
        Contender("GET") { try await send(gets, getTape, times: $0) },
        Contender("POST of JSON") { try await send(posts, postTape, times: $0) },
        Contender("the stub alone (floor)") { try await send(gets, stub, times: $0) },
    ]
)
goal("a GET that plays, CPU", costs["GET"]?.cpu.map { $0 / 1_000 }, atMost: 20, "µs")
goal("a POST of JSON that plays, CPU", costs["POST of JSON"]?.cpu.map { $0 / 1_000 }, atMost: 20, "µs")
