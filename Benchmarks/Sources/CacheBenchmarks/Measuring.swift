import Foundation
import Interceptors

/// This process's resident memory, in MB; 0 if the system doesn't report it.
func residentMemory() -> Double {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0
    return pages * Double(getpagesize()) / 1e6
}

/// Runs work, prints its duration and the resident memory, and returns the milliseconds.
@discardableResult
func measured(_ name: String, _ work: () async throws -> Void) async rethrows -> Double {
    let start = ContinuousClock.now
    try await work()
    let milliseconds = start.duration(to: .now) / .milliseconds(1)
    print(name, String(format: "%.2f ms, %.1f MB resident", milliseconds, residentMemory()))
    return milliseconds
}

/// The median, the 99th percentile and the maximum of the durations of single calls, in microseconds.
struct Quantiles: CustomStringConvertible {
    let median: Double
    let slow: Double
    let slowest: Double

    init(_ times: [Duration]) {
        let sorted = times.map { $0 / .microseconds(1) }.sorted()
        (median, slow, slowest) = (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100], sorted[sorted.count - 1])
    }

    var description: String {
        String(format: "median %.2f µs, 99 %% within %.2f µs, the slowest %.0f µs", median, slow, slowest)
    }
}

struct Wrong: Error {}

/// The transport for misses: returns 2 kB with the usual fields of an API.
struct Origin: Transport {
    static let fields: HTTPFields = [
        .contentType: "application/json", .cacheControl: "max-age=3600", .vary: "Accept-Encoding",
        .eTag: "\"33a64df551425fcc55e4d42a148795d9\"", .date: now(), .server: "example/1.0",
        "X-Request-ID": "0af7651916cd43dd8448eb211c80319c",
    ]
    private static let content = Data(repeating: 7, count: 2_048)

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        HTTPResponse(status: 200, headers: Self.fields, body: HTTPBody(Self.content), url: request.url)
    }

    private static func now() -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.string(from: Date())
    }
}

func thing(_ number: Int) throws -> HTTPRequest {
    guard let url = URL(string: "https://api.example.com/v1/things/\(number)?page=1") else { throw Wrong() }
    return HTTPRequest(
        url: url,
        headers: [
            .accept: "application/json", .authorization: "Bearer 0af7651916cd43dd8448eb211c80319c",
        ]
    )
}
