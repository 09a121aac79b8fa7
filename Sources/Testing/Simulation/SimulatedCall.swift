internal import Foundation
internal import InterceptorsCore
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

        func url(_ core: SimulationCore) -> URL {
            (isElsewhere ? core.otherURL : core.url).appending(path: path)
                .appending(queryItems: page.map { [URLQueryItem(name: "page", value: $0)] } ?? [])
        }
    }

    /// A random call. Half of the calls resemble an earlier one, so that caches and shared exchanges serve them.
    init(_ id: Int, _ core: SimulationCore, hasDeadline: Bool, resembling earlier: [Self]) {
        self.id = id
        let model = !earlier.isEmpty && core.chance(50) ? core.oneOf(earlier) : nil
        method = model?.method ?? core.oneOf([.get, .get, .get, .post, .post, .put, .delete])
        target = Self.target(id, core, resembling: model?.target)
        url = target.url(core)
        let name = core.oneOf(["ada", "bob", nil])
        let modelName = model.map(\.account) ?? name
        account = core.followsSignIns ? nil : core.chance(70) ? modelName : name
        mode = core.chance(50) ? .buffered : model?.mode ?? .streamed
        reading = core.oneOf([.all, .all, .all, .part, .none])
        delay = .milliseconds(core.number(in: 0...6_000))
        // No other event has a time that isn't a whole number of milliseconds, so a cancellation never meets another event.
        cancelled =
            core.chance(35)
            ? delay + .milliseconds(core.number(in: 0...6_000)) + .microseconds(core.number(in: 1...999)) : nil
        deadline = hasDeadline && core.chance(30) ? .milliseconds(core.number(in: 1...15_000)) : nil
        content = method == .post || method == .put ? Self.content(ofCall: id) : Data()
        body = content.isEmpty ? .empty : Self.body(content, core)
    }

    private static func target(_ id: Int, _ core: SimulationCore, resembling model: Target?) -> Target {
        var target = Target(
            isElsewhere: core.chance(10),
            path: core.oneOf(["/things/1", "/things/1", "/things/\(id)", "/private/2", "/private/2"]),
            page: core.oneOf([nil, nil, "1", "2"])
        )
        guard let model else { return target }
        if core.chance(85) { target.isElsewhere = model.isElsewhere }
        if core.chance(85) { target.path = model.path }
        if core.chance(80) { target.page = model.page }
        return target
    }

    private static let contentStart = "the content of call "
    private static func content(ofCall id: Int) -> Data { Data("\(contentStart)\(id)".utf8) }

    /// The call whose request has this content; 0 if unknown.
    static func id(in content: Data) -> Int {
        let text = String(decoding: content.prefix(100), as: UTF8.self)
        return text.hasPrefix(contentStart) ? Int(text.dropFirst(contentStart.count)) ?? 0 : 0
    }

    private static func body(_ bytes: Data, _ core: SimulationCore) -> HTTPBody {
        let chunks = { @Sendable in ScriptedStream([Data(bytes.prefix(9)), Data(bytes.dropFirst(9))]).body() }
        switch core.number(in: 0...2) {
        case 0: return HTTPBody(bytes)
        case 1: return .restartable { chunks() }
        default: return chunks()
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
