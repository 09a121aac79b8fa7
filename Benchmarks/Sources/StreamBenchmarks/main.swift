import Foundation
import Harness
import Interceptors
import InterceptorsStubs
import InterceptorsTransfers

// Measures events and records through a client over a stub, beside bare parsers of the same bytes. `Peers` measures events beside
// another package.

struct Row: Decodable, Sendable {
    let id: Int
    let name: String
}

struct Missing: Error {}

/// A record, and a client whose server repeats it.
struct Source: Sendable {
    static let recordsInAChunk = 512

    let chunk: Data
    let type: String

    init(_ record: String, type: String) {
        chunk = Data(String(repeating: record, count: Self.recordsInAChunk).utf8)
        self.type = type
    }

    func client(chunks count: Int) -> Client {
        let transport = StubTransport { [chunk, type] request in
            let body = HTTPBody.oneShot(Repeated(chunk, times: count))
            return HTTPResponse(status: 200, headers: [.contentType: type], body: body, url: request.url)
        }
        return Client(baseURL: URL(string: "https://api.example.com"), interceptors: [], transport: transport)
    }
}

/// The number of events, by the shortest loop that makes a text of each event's data.
@Sendable func bareEvents(_ chunk: Data) -> Int {
    chunk.withUnsafeBytes { bytes in
        var (count, start) = (0, 0)
        while let end = bytes[start...].firstIndex(of: 0x0A) {
            if end - start > 6, bytes[start] == UInt8(ascii: "d") {
                count += String(decoding: bytes[(start + 6)..<end], as: UTF8.self).isEmpty ? 0 : 1
            }
            start = end + 1
        }
        return count
    }
}

/// The lines are split in advance.
@Sendable func bareRows(_ lines: [Data]) throws -> Int {
    let decoder = JSONDecoder()
    return try lines.reduce(0) { $0 + (try decoder.decode(Row.self, from: $1)).id }
}

let text = String(repeating: "x", count: 100)
let events = Source("id: 7\ndata: \(text)\n\n", type: "text/event-stream")
let rows = Source(#"{"id":7,"name":"\#(text)"}"# + "\n", type: "application/x-ndjson")
let unit = Source.recordsInAChunk
let lines = rows.chunk.split(separator: 0x0A).map { Data($0) }

let eventCosts = try await compare(
    "Server-sent events of 100 bytes, each",
    repetitions: 200 * unit,
    [
        Contender("Client.events") { repetitions in
            var count = 0
            let stream = events.client(chunks: repetitions / unit).events("/stream", reconnection: nil)
            for try await event in stream { count += event.data.isEmpty ? 0 : 1 }
            guard count == repetitions else { throw Missing() }
        },
        Contender("a bare loop (floor)") { repetitions in
            for _ in 0..<repetitions / unit where bareEvents(events.chunk) != unit { throw Missing() }
        },
    ]
)
goal("an event, CPU", eventCosts["Client.events"]?.cpu, atMost: 1_000, "ns")

/// Reads records with a client.
func reading(_ source: Source) -> @Sendable (Int) async throws -> Void {
    { repetitions in
        var sum = 0
        let stream = source.client(chunks: repetitions / unit).lines("/export", as: Row.self)
        for try await row in stream { sum += row.id }
        guard sum == 7 * repetitions else { throw Missing() }
    }
}

let lineCosts = try await compare(
    "JSON lines of 120 bytes, each",
    repetitions: 20 * unit,
    [
        Contender("Client.lines", reading(rows)),
        Contender("JSONDecoder alone (floor)") { repetitions in
            for _ in 0..<repetitions / unit where try bareRows(lines) != 7 * unit { throw Missing() }
        },
    ]
)
let ratio = lineCosts.ratio("Client.lines", to: "JSONDecoder alone (floor)", of: \.cpu)
goal("a line, CPU, compared with JSONDecoder alone", ratio, atMost: 1.5, "times")
