internal import Foundation
internal import Synchronization

/// One call of a simulation, and how it went.
struct SimulatedCall: Sendable, CustomStringConvertible {
    let id: Int
    let method: HTTPRequest.Method
    let url: URL
    /// The account of the call; `nil` for nobody, or if the chain adds the credentials.
    let account: String?
    /// The caller's use of a stream.
    let reading: Reading
    let mode: ResponseBodyMode
    /// The content of the request.
    let content: Data
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

    var isRunning: Bool { began != nil && endedAt == nil }

    enum Reading { case all, part, none }

    /// Such as `call 3 (POST /things/1)`.
    var description: String { "call \(id) (\(method) \(url.path)\(url.query.map { "?\($0)" } ?? ""))" }

    /// The components of the URL.
    private let target: Target

    private struct Target {
        var isElsewhere: Bool
        var path: String
        var page: String?

        func url(_ world: Simulation.World) -> URL {
            (isElsewhere ? world.otherURL : world.url).appending(path: path)
                .appending(queryItems: page.map { [URLQueryItem(name: "page", value: $0)] } ?? [])
        }
    }

    /// A random call. Half of the calls resemble an earlier one, so that caches and shared exchanges serve them.
    init(_ id: Int, _ world: Simulation.World, hasDeadline: Bool, resembling earlier: [Self]) {
        self.id = id
        let model = !earlier.isEmpty && world.chance(50) ? world.oneOf(earlier) : nil
        method = model?.method ?? world.oneOf([.get, .get, .get, .post, .post, .put, .delete])
        target = Self.target(id, world, resembling: model?.target)
        url = target.url(world)
        let name = world.oneOf(["ada", "bob", nil])
        let modelName = model.map(\.account) ?? name
        account = world.followsSignIns ? nil : world.chance(70) ? modelName : name
        mode = world.chance(50) ? .buffered : model?.mode ?? .streamed
        reading = world.oneOf([.all, .all, .all, .part, .none])
        delay = .milliseconds(world.number(in: 0...6_000))
        // No other event has a time that isn't a whole number of milliseconds, so a cancellation never meets another event.
        cancelled =
            world.chance(35)
            ? delay + .milliseconds(world.number(in: 0...6_000)) + .microseconds(world.number(in: 1...999)) : nil
        deadline = hasDeadline && world.chance(30) ? .milliseconds(world.number(in: 1...15_000)) : nil
        content = method == .post || method == .put ? Self.content(ofCall: id) : Data()
        body = content.isEmpty ? .empty : Self.body(content, world)
    }

    private static func target(_ id: Int, _ world: Simulation.World, resembling model: Target?) -> Target {
        var target = Target(
            isElsewhere: world.chance(10),
            path: world.oneOf(["/things/1", "/things/1", "/things/\(id)", "/private/2", "/private/2"]),
            page: world.oneOf([nil, nil, "1", "2"])
        )
        guard let model else { return target }
        if world.chance(85) { target.isElsewhere = model.isElsewhere }
        if world.chance(85) { target.path = model.path }
        if world.chance(80) { target.page = model.page }
        return target
    }

    private static let contentStart = "the content of call "
    private static func content(ofCall id: Int) -> Data { Data("\(contentStart)\(id)".utf8) }

    /// The call whose request has this content; 0 if unknown.
    static func id(in content: Data) -> Int {
        let text = String(decoding: content.prefix(100), as: UTF8.self)
        return text.hasPrefix(contentStart) ? Int(text.dropFirst(contentStart.count)) ?? 0 : 0
    }

    private static func body(_ bytes: Data, _ world: Simulation.World) -> HTTPBody {
        let chunks = { @Sendable in ScriptedStream([Data(bytes.prefix(9)), Data(bytes.dropFirst(9))]).body() }
        switch world.number(in: 0...2) {
        case 0: return HTTPBody(bytes)
        case 1: return .restartable { chunks() }
        default: return chunks()
        }
    }

    func request(_ world: Simulation.World) -> HTTPRequest {
        var request = HTTPRequest(method: method, url: url, body: body)
        request.context.responseBody = mode
        request.context.mark = id
        if let account, Origin(url) == world.origin, let token = world.state.withLock(\.valid)[account] {
            request.headers[.authorization] = "Bearer \(token)"
        }
        return request
    }
}
