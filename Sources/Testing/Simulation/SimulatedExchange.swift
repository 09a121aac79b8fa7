internal import Foundation
internal import InterceptorsCore
internal import Synchronization

/// One request that reached a simulated server, with the content of its response.
struct SimulatedExchange: Sendable {
    /// The position in the order of the seed's exchanges, from 1.
    let number: Int
    /// The number of the call; 0 if unknown.
    var call: Int
    let method: HTTPRequest.Method
    let url: URL
    /// The accounts whose credentials the request carried.
    let accounts: Set<String>
    /// The content of the response.
    var content = Data()
    /// The targets that the response redirects to (RFC 9110 §15.4).
    var redirectTargets: [Target] = []

    /// A method and a URL that a call may ask for.
    struct Target: Hashable {
        let method: HTTPRequest.Method
        let url: URL
    }

    /// Whether a request asks for a target. A chain may add query items, apart from the simulation's parameter `page`.
    ///
    /// - Parameter isMovable: whether the chain may have sent the request to another server or below another base path,
    ///   as a failover does.
    func asks(for target: Target, isMovable: Bool) -> Bool {
        guard method == target.method, Self.pages(of: url) == Self.pages(of: target.url) else { return false }
        if isMovable { return url.path.hasSuffix(target.url.path) }
        return Origin(url) == Origin(target.url) && url.path == target.url.path
    }

    private static func pages(of url: URL) -> [String?] {
        guard url.query != nil else { return [] }
        let items = URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
        return items.filter { $0.name == "page" }.map(\.value)
    }
}

/// The records of exchanges.
extension Simulation.World {
    static let exchangeField: HTTPField.Name = "X-Simulated-Exchange"
    private static let contentStart = #"{"simulated":""#

    func change(exchange number: Int, _ change: (inout SimulatedExchange) -> Void) {
        state.withLock { change(&$0.exchanges[number - 1]) }
    }

    func exchange(_ number: Int) -> SimulatedExchange { state.withLock { $0.exchanges[number - 1] } }

    /// The name of an exchange in fields and content, such as `42/3`.
    func name(ofExchange number: Int) -> String { "\(seed)/\(number)" }

    /// The content of a response, which names its exchange unless the user has chosen the content.
    func makeContent(of number: Int) -> Data {
        if let content { return content }
        let exchange = exchange(number)
        let owner = exchange.accounts.sorted().joined(separator: ", ")
        return Data(
            """
            \(Self.contentStart)\(name(ofExchange: number))","call":\(exchange.call),"account":"\(owner)",\
            "method":"\(exchange.method)","url":"\(exchange.url.absoluteString)","films":[1,2,3]}
            """.utf8
        )
    }

    /// The name of the exchange that some content comes from.
    func exchangeName(in content: Data) -> Substring? {
        let text = String(decoding: content.prefix(100), as: UTF8.self)
        guard text.hasPrefix(Self.contentStart) else { return nil }
        let rest = text.dropFirst(Self.contentStart.count)
        return rest.firstIndex(of: "\"").map { rest[..<$0] }
    }

    /// The exchange with a name. Reports an exchange of another seed.
    func exchange(named name: some StringProtocol, for call: SimulatedCall) -> SimulatedExchange? {
        let numbers = name.split(separator: "/").compactMap { Int($0) }
        guard numbers.count == 2 else { return nil }
        guard numbers[0] == seed else {
            violate(.seedsShareNoState, "\(call) got a response of seed \(numbers[0]). State is shared between seeds.")
            return nil
        }
        return state.withLock { $0.exchanges.first { $0.number == numbers[1] } }
    }

    /// Whether a call may lead to an exchange, directly or through redirects.
    ///
    /// A call follows its own redirects and, because a cache may keep them, those of each GET that its accounts may see.
    /// A chain may move the requests of the call, or of a call with the same target, to another server.
    func leads(_ call: SimulatedCall, to exchange: SimulatedExchange, as accounts: Set<String>) -> Bool {
        let (exchanges, calls) = state.withLock { ($0.exchanges, $0.calls) }
        let redirects = exchanges.filter { redirect in
            !redirect.redirectTargets.isEmpty
                && (redirect.call == call.id || redirect.method == .get && redirect.accounts.isSubset(of: accounts))
        }
        let resembling = Set(calls.values.filter { $0.method == call.method && $0.url == call.url }.map(\.id))
        let start = SimulatedExchange.Target(method: call.method, url: call.url)
        var (found, rest) = (Set([start]), [start])
        while let next = rest.popLast() {
            if exchange.asks(for: next, isMovable: resembling.contains(exchange.call)) { return true }
            for redirect in redirects where redirect.asks(for: next, isMovable: resembling.contains(redirect.call)) {
                for target in redirect.redirectTargets where found.insert(target).inserted { rest.append(target) }
            }
        }
        return false
    }
}
