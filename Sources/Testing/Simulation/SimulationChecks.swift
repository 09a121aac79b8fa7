internal import Foundation
internal import Synchronization

/// The records of requests.
extension Simulation.World {
    /// The call of a request: by its context or, if the chain has lost that, by its content or its target; 0 if unknown.
    func call(of request: HTTPRequest) -> Int {
        let known = request.context.mark
        if known > 0 { return known }
        if let bytes = request.body.data, !bytes.isEmpty { return SimulatedCall.id(in: bytes) }
        let (method, url) = (request.method, request.url)
        let calls = state.withLock { state in
            state.calls.values.filter { $0.isRunning && $0.method == method && $0.url == url }
        }
        return calls.count == 1 ? calls[0].id : 0
    }

    /// Checks and records a request that is about to be sent, and returns the number of the exchange.
    func began(_ request: HTTPRequest, _ id: Int) -> Int {
        let text = SimulatedNetwork.text(of: request)
        let sent = accounts(in: text)
        let (number, wasSent, call) = state.withLock { state in
            let (number, wasSent) = (state.exchanges.count + 1, state.exchanges.contains { $0.call == id })
            let (method, url) = (request.method, request.url)
            state.exchanges.append(.init(number: number, call: id, method: method, url: url, accounts: sent))
            state.running += 1
            return (number, wasSent, state.calls[id])
        }
        checkSeed(ofTokensIn: text, at: "A request")
        if !sent.isEmpty, Origin(request.url) != origin {
            let place = Origin(request.url)?.description ?? "no origin"
            violate(.secretsStayAtTheirOrigin, "The credential of \(Self.names(sent)) was sent to \(place).")
        }
        guard let call else { return number }
        if !request.body.isReadable {
            violate(.aOneShotBodyIsSentOnce, "The one-shot body of \(call) was sent again.")
        }
        if followsSignIns ? call.began != nil : call.account != nil {
            let permitted = accounts(of: call, since: call.began ?? .zero)
            if let other = sent.subtracting(permitted).min() {
                let caller = Self.names(permitted)
                violate(.accountsStayApart, "\(call), of \(caller), was sent with the credential of \(other).")
            }
        }
        // Another call may share the exchange, and go on.
        if wasSent, call.cancelledAt != nil, Task.isCancelled {
            violate(.cancellationEndsACall, "\(call) was cancelled, and sent again after that.")
        }
        return number
    }

    static func names(_ accounts: Set<String>) -> String {
        accounts.isEmpty ? "nobody" : accounts.sorted().joined(separator: ", ")
    }

    /// Checks and records that a server may act on a request.
    func mayAct(on request: HTTPRequest, _ id: Int, _ number: Int) {
        guard request.method == .post, let call = state.withLock({ $0.calls[id] }) else { return }
        let key = request.headers[.idempotencyKey]
        let isRepeated = state.withLock { state in
            defer { state.acted[number] = (id, key) }
            return state.acted.values.contains { $0.call == id && ($0.key == nil || $0.key != key) }
        }
        guard isRepeated else { return }
        let way = key == nil ? "without an idempotency key" : "with another idempotency key"
        violate(.aPostIsActedOnOnce, "\(call) was sent again \(way) after a server may have acted on it.")
    }

    /// Checks the content of a request that a server has received.
    func check(_ content: Data, of request: HTTPRequest, _ number: Int) {
        if exchange(number).call == 0 {
            let id = SimulatedCall.id(in: content)
            change(exchange: number) { $0.call = id }
            mayAct(on: request, id, number)
        }
        let exchange = exchange(number)
        guard let call = state.withLock({ $0.calls[exchange.call] }), content != call.content,
            request.method == call.method, !request.headers.contains(.contentEncoding),
            leads(call, to: exchange, as: accounts(of: call, since: call.began ?? .zero))
        else { return }
        violate(
            .contentComesWhole,
            "A server received \(content.count) bytes from \(call) that aren't its content of \(call.content.count) bytes."
        )
    }
}

/// The checks of each call.
extension Simulation.World {
    func change(_ id: Int, _ change: (inout SimulatedCall?) -> Void) { state.withLock { change(&$0.calls[id]) } }

    /// The calls that haven't ended.
    var waitingCalls: [SimulatedCall] {
        state.withLock { $0.calls.values.filter { $0.endedAt == nil } }.sorted { $0.id < $1.id }
    }

    func answered(_ id: Int) {
        let now = now
        change(id) { $0?.answeredAt = now }
    }

    func ended(_ id: Int, with error: (any Error)?) {
        let now = now
        let name = error.map { ($0 as? any HTTPError)?.qualifiedCode ?? "\(type(of: $0))" }
        note("end #\(id) \(name ?? "well")")
        change(id) { $0?.endedAt = now }
        guard let error, let call = state.withLock({ $0.calls[id] }) else { return }
        if call.cancelledAt != nil, !(error is CancellationError) {
            violate(.cancellationEndsACall, "\(call) was cancelled, and failed with \(name ?? "").")
        }
        let owners = accounts(in: "\(error) \(String(reflecting: error)) \(error.localizedDescription)")
        if let owner = owners.min() {
            violate(.secretsAreNotPrinted, "The error of \(call) shows the credential of \(owner): \(type(of: error)).")
        }
    }

    /// Checks the head of a response, and returns the exchange that it names.
    func check(_ response: HTTPResponse, of call: SimulatedCall, since start: Duration) -> SimulatedExchange? {
        note("response #\(call.id) \(response.status.code)")
        if response.status.kind == .successful { state.withLock { $0.successes += 1 } }
        if call.mode == .buffered, response.body.data == nil {
            violate(.aBufferedResponseStaysBuffered, "\(call) asked for a response in memory, and got a stream.")
        }
        guard let name = response.headers[Self.exchangeField],
            let exchange = exchange(named: name, for: call)
        else { return nil }
        checkOwner(of: exchange, call, since: start)
        return exchange
    }

    private func checkOwner(of exchange: SimulatedExchange, _ call: SimulatedCall, since start: Duration) {
        let permitted = accounts(of: call, since: start)
        for account in exchange.accounts.sorted() where !permitted.contains(account) {
            let caller = Self.names(permitted)
            violate(.accountsStayApart, "\(call), of \(caller), got a response that was made for \(account).")
        }
        if !leads(call, to: exchange, as: permitted) {
            let target = "\(exchange.method) \(exchange.url.absoluteString)"
            violate(.responsesBelongToTheirCalls, "\(call) got the response to \(target).")
        }
    }

    /// Checks the content that a call has read.
    ///
    /// - Parameters:
    ///   - isWhole: whether the call has read up to the end without an error.
    ///   - named: the exchange that the head of the response names.
    func check(
        _ content: Data,
        isWhole: Bool,
        of call: SimulatedCall,
        from named: SimulatedExchange?,
        since start: Duration
    ) {
        var exchange = named
        // Without the field, the response is the chain's, but its content may be a server's.
        if named == nil, let name = exchangeName(in: content) {
            exchange = self.exchange(named: name, for: call)
            if let exchange { checkOwner(of: exchange, call, since: start) }
        }
        guard let exchange else {
            guard isWhole, !content.isEmpty else { return }
            let isBeginning = state.withLock(\.exchanges).contains {
                $0.content.count > content.count && $0.content.starts(with: content)
            }
            if isBeginning {
                violate(
                    .contentComesWhole,
                    "\(call) got the first \(content.count) bytes of a response as if they were all."
                )
            }
            return
        }
        let expected = exchange.content
        if isWhole ? content == expected : expected.starts(with: content) { return }
        let text =
            expected.starts(with: content)
            ? "\(call) got \(content.count) of \(expected.count) bytes, and no error."
            : "\(call) got content that its server hadn't sent with the response."
        violate(.contentComesWhole, text)
    }
}

/// The checks at the end.
extension Simulation.World {
    func checkCalls() {
        let calls = state.withLock { $0.calls.values.sorted { $0.id < $1.id } }
        for call in calls {
            if let cancelled = call.cancelledAt, call.endedAt.map({ $0 > cancelled }) ?? true {
                let end = call.endedAt.map { "ended at \($0)" } ?? "never ended"
                violate(.cancellationEndsACall, "\(call) was cancelled at \(cancelled), and \(end).")
            }
            if let began = call.began, let limit = call.deadline,
                call.answeredAt.map({ $0 - began > limit }) ?? true
            {
                let end = call.answeredAt.map { "took \($0 - began)" } ?? "never ended"
                violate(.aDeadlineEndsACall, "\(call) had a deadline after \(limit), and \(end).")
            }
        }
        let waiting = waitingCalls
        guard !waiting.isEmpty else { return }
        let names = waiting.map(\.description).joined(separator: ", ")
        violate(
            .everyCallEnds,
            """
            \(waiting.count) of \(calls.count) calls wait for ever: \(names). \
            If an interceptor sleeps on a clock of the system, pass it world.time.
            """
        )
    }

    func checkRest() {
        let (running, bodies) = state.withLock { ($0.running, $0.streams.count { !$0.isClosed }) }
        if running > 0 { violate(.nothingStaysOpen, "\(running) exchanges never ended.") }
        if bodies > 0 { violate(.nothingStaysOpen, "\(bodies) streams were neither read to their end nor discarded.") }
    }

    func checkRelease() {
        guard waitingCalls.isEmpty, state.withLock({ $0.networks.contains { $0() } }) else { return }
        violate(.theChainIsReleased, "Something still holds the client's transport when all has ended.")
    }
}

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
