#if os(Linux)
import Foundation
import InterceptorsTestSupport
import InterceptorsTransport
import Synchronization

/// Sends many requests to a server that often fails. Each request must end once, as its fate says, and nothing may
/// grow.
struct FaultLoad {
    private static let inFlight = 64

    /// How the server treats a request. The request's path names the fate.
    private enum Fate: String, CaseIterable {
        case answered, streamed, posted, lost, reset, cut, garbage, silent, cancelled

        func allows(_ ending: Ending) -> Bool {
            switch self {
            case .answered, .streamed, .posted: ending == .success
            case .lost, .reset: ending == .failure(.connectionLost)
            case .cut: ending == .failure(.truncated)
            case .garbage: ending == .failure(.invalidResponse)
            case .silent: ending == .failure(.timedOut)
            case .cancelled: ending == .success || ending == .cancelled
            }
        }
    }

    private enum Ending: Hashable {
        case success
        case failure(HTTPErrorCode)
        case cancelled
        case other(String)
    }

    let count: Int
    let server: URL

    func run() async throws {
        let transport = CurlTransport()
        // A tenth of the requests in advance lets the process acquire the threads, connections and memory that it keeps.
        try await run(count / 10, transport, seed: 1)
        let before = Census()
        let start = ContinuousClock.now
        try await run(count, transport, seed: 2)
        let after = Census()
        let time = start.duration(to: .now)
        print("measured: \(count) requests with faults in \(time): \(before) before, \(after) after")
        try check(after.memory - before.memory < 16 << 20, "The memory grew.")
        // Allows two pool threads that start late, and one connection for each request in flight.
        try check(after.threads <= before.threads + 2, "The threads became more.")
        try check(after.descriptors <= before.descriptors + Self.inFlight, "The descriptors became more.")
        await transport.shutDown()
        await OwnProcess.reaches { OwnProcess.threads(named: "Interceptors") == 0 }
    }

    /// Sends `count` requests from 64 concurrent workers, and checks that each ends once, as its fate says.
    private func run(_ count: Int, _ transport: CurlTransport, seed: UInt64) async throws {
        let ends = Ends(count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<Self.inFlight {
                group.addTask {
                    var generator = SeededGenerator(seed: seed &* 1000 &+ UInt64(worker))
                    for index in stride(from: worker, to: count, by: Self.inFlight) {
                        // Three in four requests succeed, and each fault still occurs often.
                        let isFault = Int.random(in: 0..<4, using: &generator) == 0
                        let fate = isFault ? generator.oneOf(Fate.allCases) : .answered
                        let yields = Int.random(in: 0..<200, using: &generator)
                        let ending = await end(request(fate), fate, transport, cancelledAfter: yields)
                        ends.add(index, fate.allows(ending) ? nil : "\(fate) ended with \(ending)")
                    }
                }
            }
            try await group.waitForAll()
        }
        try check(ends.areComplete, "A request did not end, or ended twice.")
        try check(ends.surprises.isEmpty, "\(ends.surprises)")
    }

    private func request(_ fate: Fate) -> HTTPRequest {
        var request = HTTPRequest(url: server.appending(path: fate.rawValue))
        switch fate {
        case .streamed: request.context.responseBody = .streamed
        case .posted:
            request.method = .post
            request.body = HTTPBody(Data(count: 3000))
        case .silent: request.context.timeouts = Timeouts(total: .milliseconds(5))
        default: break
        }
        return request
    }

    private func end(
        _ request: HTTPRequest,
        _ fate: Fate,
        _ transport: CurlTransport,
        cancelledAfter yields: Int
    ) async -> Ending {
        let call = Task {
            let response = try await transport.send(request)
            return try await response.body.collect(upTo: 1 << 20).count
        }
        if fate == .cancelled {
            for _ in 0..<yields { await Task.yield() }
            call.cancel()
        }
        do {
            _ = try await call.value
            return .success
        } catch is CancellationError {
            return .cancelled
        } catch let error as TransportError {
            return .failure(error.code)
        } catch {
            return .other("\(error)")
        }
    }

    /// How often each request has ended, and the endings that its fate doesn't allow.
    private final class Ends: Sendable {
        private let state: Mutex<(counts: [Int], surprises: [String: Int])>

        init(_ count: Int) { state = Mutex(([Int](repeating: 0, count: count), [:])) }

        func add(_ index: Int, _ surprise: String?) {
            state.withLock { state in
                state.counts[index] += 1
                if let surprise { state.surprises[surprise, default: 0] += 1 }
            }
        }

        var areComplete: Bool { state.withLock { $0.counts.allSatisfy { $0 == 1 } } }
        var surprises: [String: Int] { state.withLock(\.surprises) }
    }

    private struct Census: CustomStringConvertible {
        let memory = OwnProcess.memory
        let threads = OwnProcess.threadNames.count
        let descriptors = OwnProcess.descriptors

        var description: String { "\(memory >> 20) MB, \(threads) threads, \(descriptors) descriptors" }
    }
}
#endif
