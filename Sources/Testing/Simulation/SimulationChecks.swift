internal import Foundation
internal import InterceptorsCore
internal import Synchronization

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
        if call.mode == .buffered, response.body.bytes == nil {
            violate(.aBufferedResponseStaysBuffered, "\(call) asked for a response in memory, and got a stream.")
        }
        guard let name = response.headerFields[Self.exchangeField],
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
