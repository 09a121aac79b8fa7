internal import Foundation
internal import InterceptorsCore
internal import Synchronization

/// The records of requests.
extension Simulation.World {
    /// The call of a request: by its context or, if the chain has lost that, by its content or its target; 0 if unknown.
    func call(of request: HTTPRequest) -> Int {
        let known = request.context.simulatedCall
        if known > 0 { return known }
        if let bytes = request.body.bytes, !bytes.isEmpty { return SimulatedCall.id(in: bytes) }
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
        let key = request.headerFields[.idempotencyKey]
        let isRepeated = state.withLock { state in
            defer { state.acted[number] = Act(call: id, key: key) }
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
            request.method == call.method, !request.headerFields.contains(.contentEncoding),
            leads(call, to: exchange, as: accounts(of: call, since: call.began ?? .zero))
        else { return }
        violate(
            .contentComesWhole,
            "A server received \(content.count) bytes from \(call) that aren't its content of \(call.content.count) bytes."
        )
    }
}

extension HTTPContext {
    private enum SimulatedCallKey: HTTPContextKey { static var defaultValue: Int { 0 } }

    /// The number of the simulated call that a request belongs to; 0 if unknown.
    var simulatedCall: Int {
        get { self[SimulatedCallKey.self] }
        set { self[SimulatedCallKey.self] = newValue }
    }
}
