import Foundation
import InterceptorsRecordings
import InterceptorsTestSupport

/// The commands that record. Each begins with `tape`:
///
/// - `write FILE FIRST TIME` records exchanges from number FIRST on and prints each that has finished, until a signal kills the
///   process, or the kernel does so after TIME microseconds of processor time.
/// - `hammer FILE FIRST COUNT` records COUNT exchanges and one that all processes share, and finishes.
/// - `second FILE` records one exchange, and prints the error's code or that it was recorded, and the number of requests.
/// - `once FILE` sends one request in mode once, and prints whether the response is right and the number of requests.
/// - `full FILE` records 100 exchanges while files are limited to 20 kB, and prints the error.
enum TapeCommand {
    static func run(_ arguments: [String]) async throws {
        guard let command = arguments.first, arguments.count >= 2 else { exit(64) }
        let file = URL(filePath: arguments[1])
        let numbers = arguments.dropFirst(2).compactMap { Int($0) } + [0, 0]
        switch command {
        case "write": try await write(file, from: numbers[0], microseconds: numbers[1])
        case "hammer": try await hammer(file, from: numbers[0], count: numbers[1])
        case "once":
            let tape = Recording(at: file, mode: .once)
            report("\(try await ask(1, tape) == CacheFill.body(1, 1)) \(server.requests.count)")
            try tape.finish()
        case "second":
            let tape = Recording(at: file, mode: .new)
            do {
                _ = try await ask(1, tape)
                try tape.finish(allowingUnused: true)
                report("recorded \(server.requests.count)")
            } catch let error as TransportError {
                report("\(error.code.rawValue) \(server.requests.count)")
            }
        case "full": try await fill(file)
        default: exit(64)
        }
    }

    private static func write(_ file: URL, from first: Int, microseconds: Int) async throws {
        ProcessLimits.killAfter(microseconds: microseconds)
        let tape = Recording(at: file, mode: .new)
        var number = first
        while true {
            await withTaskGroup(of: Void.self) { group in
                for number in number..<(number + 4) {
                    group.addTask {
                        guard (try? await ask(number, tape)) == CacheFill.body(number, 1) else { exit(1) }
                        report("\(number)")
                    }
                }
            }
            number += 4
            if number % 12 == 0 { try tape.finish(allowingUnused: true) }
        }
    }

    private static func hammer(_ file: URL, from first: Int, count: Int) async throws {
        let tape = Recording(at: file, mode: .new)
        for number in first..<(first + count) {
            _ = try await ask(number, tape)
            if number % 10 == 0 {
                _ = try await ask(1, tape)
                try tape.finish(allowingUnused: true)
            }
        }
        try tape.finish(allowingUnused: true)
    }

    private static func fill(_ file: URL) async throws {
        ProcessLimits.limitFiles(to: 20_000)
        let tape = Recording(at: file, mode: .all)
        for number in 1...100 { _ = try await ask(number, tape) }
        do {
            try tape.finish()
        } catch {
            report("\(error)")
        }
    }
}

/// Answers with the content that the last segment of the path numbers, in chunks if it is a multiple of three.
private let server = StubTransport { request in
    let number = Int(request.url.lastPathComponent) ?? 0
    let bytes = CacheFill.body(number, 1)
    guard number % 3 == 0 else { return HTTPResponse(status: 200, body: HTTPBody(bytes)) }
    let chunks = AsyncStream<Data> { continuation in
        var rest = bytes[...]
        while !rest.isEmpty {
            continuation.yield(Data(rest.prefix(700)))
            rest = rest.dropFirst(700)
        }
        continuation.finish()
    }
    return HTTPResponse(status: 200, body: .oneShot(chunks))
}

private func ask(_ number: Int, _ tape: Recording) async throws -> Data {
    guard let url = URL(string: "https://a.example/\(number)") else { exit(65) }
    var request = HTTPRequest(url: url)
    request.context.responseBody = number % 3 == 0 ? .streamed : .buffered
    let response = try await RecordedTransport.recorded(tape, over: server).send(request)
    return try await response.body.collect(upTo: 1 << 20)
}
