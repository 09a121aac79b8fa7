import EventSource
import Foundation
import Harness
import Interceptors
import InterceptorsStubs
import InterceptorsTransfers

// Compares server-sent events of the client, over a stub, with the package EventSource, which parses bytes in memory.

struct Missing: Error {}

let eventsInAChunk = 512
let event = "id: 7\ndata: \(String(repeating: "x", count: 100))\n\n"
let chunk = Data(String(repeating: event, count: eventsInAChunk).utf8)

/// The bytes of a body one at a time, as EventSource takes them.
struct SingleBytes: AsyncSequence, Sendable {
    let chunk: [UInt8]
    let times: Int

    struct Iterator: AsyncIteratorProtocol {
        let chunk: [UInt8]
        var rest: Int
        var index = 0

        mutating func next() async -> UInt8? {
            if index == chunk.count { (rest, index) = (rest - 1, 0) }
            guard rest > 0 else { return nil }
            defer { index += 1 }
            return chunk[index]
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(chunk: chunk, rest: times) }
}

let costs = try await compare(
    "Server-sent events of 100 bytes, each",
    repetitions: 40 * eventsInAChunk,
    [
        Contender("Client.events") { repetitions in
            let stub = StubTransport { request in
                let body = HTTPBody.oneShot(Repeated(chunk, times: repetitions / eventsInAChunk))
                return HTTPResponse(
                    status: 200,
                    headers: [.contentType: "text/event-stream"],
                    body: body,
                    url: request.url
                )
            }
            let client = Client(baseURL: URL(string: "https://api.example.com"), interceptors: [], transport: stub)
            var count = 0
            for try await event in client.events("/stream", reconnection: nil) { count += event.data.isEmpty ? 0 : 1 }
            guard count == repetitions else { throw Missing() }
        },
        Contender("EventSource", share: 0.2) { repetitions in
            var count = 0
            let bytes = SingleBytes(chunk: Array(chunk), times: repetitions / eventsInAChunk)
            for try await event in bytes.events { count += event.data.isEmpty ? 0 : 1 }
            guard count == repetitions / eventsInAChunk * eventsInAChunk else { throw Missing() }
        },
    ]
)
goal(
    "an event, CPU, compared with EventSource",
    costs.ratio("Client.events", to: "EventSource", of: \.cpu),
    atMost: 0.2,
    "times"
)
