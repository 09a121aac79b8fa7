internal import Foundation
internal import Interceptors
internal import Synchronization

/// One call of a simulation, and how it went.
struct SimulatedCall: Sendable, CustomStringConvertible {
    let id: Int
    let method: HTTPRequest.Method
    let url: URL
    /// The account of the call; `nil` for nobody, or if the chain adds the credentials.
    let account: String?
    /// What the caller does with a stream.
    let reading: Reading
    let mode: ResponseBodyMode
    let body: HTTPBody
    /// The time before the call begins.
    let delay: Duration
    /// The time before the call is cancelled.
    let cancelled: Duration?
    let deadline: Duration?

    var began: Duration?
    var cancelledAt: Duration?
    /// When the response or the error came.
    var answeredAt: Duration?
    var endedAt: Duration?
    var ends = 0

    enum Reading { case all, part, none }

    /// Such as `call 3 (POST /things/1)`.
    var description: String { "call \(id) (\(method) \(url.path))" }

    /// A random call.
    init(_ id: Int, _ core: SimulationCore, hasDeadline: Bool) {
        self.id = id
        method = core.oneOf([.get, .get, .get, .post, .post, .put, .delete])
        let isElsewhere = core.chance(10)
        let path = core.oneOf(["/things/1", "/things/1", "/things/\(id)", "/private/2", "/private/2"])
        url = (isElsewhere ? core.otherURL : core.url).appending(path: path)
        account = core.followsSignIns ? nil : core.oneOf(["ada", "bob", nil])
        mode = core.chance(50) ? .buffered : .streamed
        reading = core.oneOf([.all, .all, .all, .part, .none])
        delay = .milliseconds(core.number(in: 0...6_000))
        // No other event has a time that isn't a whole number of milliseconds, so a cancellation never meets another event.
        cancelled =
            core.chance(35)
            ? delay + .milliseconds(core.number(in: 0...6_000)) + .microseconds(core.number(in: 1...999)) : nil
        deadline = hasDeadline && core.chance(30) ? .milliseconds(core.number(in: 1...15_000)) : nil
        body = method == .post || method == .put ? Self.body(id, core) : .empty
    }

    private static func body(_ id: Int, _ core: SimulationCore) -> HTTPBody {
        let bytes = Data("the content of call \(id)".utf8)
        let chunks = { @Sendable in AsyncStream(unfolding: Parts([bytes.prefix(9), bytes.dropFirst(9)]).next) }
        switch core.number(in: 0...2) {
        case 0: return HTTPBody(bytes)
        case 1: return .restartable { chunks() }
        default: return .oneShot(chunks())
        }
    }

    private final class Parts: Sendable {
        private let parts: Guarded<[Data]>
        init(_ parts: [Data]) { self.parts = Guarded(parts) }

        func next() async -> Data? {
            let first = parts.value.first
            if first != nil { parts.change { $0.removeFirst() } }
            return first
        }
    }

    func request(_ core: SimulationCore) -> HTTPRequest {
        var request = HTTPRequest(method: method, url: url, body: body)
        request.context.responseBody = mode
        request.context.simulatedCall = id
        if let account, Origin(url) == core.origin, let token = core.state.withLock(\.valid)[account] {
            request.headerFields[.authorization] = "Bearer \(token)"
        }
        return request
    }
}
