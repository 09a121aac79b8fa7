internal import Foundation
internal import Interceptors
internal import Synchronization

/// The checks of each call.
extension SimulationCore {
    func change(_ id: Int, _ change: (inout SimulatedCall?) -> Void) { state.withLock { change(&$0.calls[id]) } }

    /// The calls that haven't ended.
    var waitingCalls: [SimulatedCall] {
        state.withLock { $0.calls.values.filter { $0.ends == 0 } }.sorted { $0.id < $1.id }
    }

    func answered(_ id: Int) {
        let now = now
        change(id) { $0?.answeredAt = now }
    }

    func ended(_ id: Int, with error: (any Error)?) {
        let now = now
        let name = error.map { ($0 as? any HTTPError)?.qualifiedCode ?? "\(type(of: $0))" }
        note("end #\(id) \(name ?? "well")")
        change(id) { call in
            call?.ends += 1
            call?.endedAt = now
        }
        guard let error, let call = state.withLock({ $0.calls[id] }) else { return }
        if call.cancelledAt != nil, !(error is CancellationError) {
            violate(.cancellationEndsACall, "\(call) was cancelled, and failed with \(name ?? "").")
        }
        let owners = accounts(in: "\(error) \(String(reflecting: error)) \(error.localizedDescription)")
        if let owner = owners.min() {
            violate(.secretsAreNotPrinted, "The error of \(call) shows the credential of \(owner): \(type(of: error)).")
        }
    }

    func check(_ response: HTTPResponse, of call: SimulatedCall, since start: Duration) {
        note("response #\(call.id) \(response.status.code)")
        let permitted = followsSignIns ? accounts(since: start) : Set([call.account].compactMap(\.self))
        for account in response.headerFields[values: "X-Simulated-Account"] where !permitted.contains(account) {
            let caller = permitted.isEmpty ? "nobody" : permitted.sorted().joined(separator: ", ")
            violate(.accountsStayApart, "\(call), of \(caller), got a response that was made for \(account).")
        }
        if let path = response.headerFields["X-Simulated-Path"], !isReachable(path, from: call.url.path) {
            violate(.responsesBelongToTheirCalls, "\(call) got the response to \(path).")
        }
        if call.mode == .buffered, response.body.bytes == nil {
            violate(.aBufferedResponseStaysBuffered, "\(call) asked for a response in memory, and got a stream.")
        }
    }

    /// Whether redirects may have led from one path to another.
    private func isReachable(_ path: String, from start: String) -> Bool {
        let redirects = state.withLock(\.redirects)
        var (found, rest): (Set<String>, [String]) = ([start], [start])
        while let next = rest.popLast() {
            for target in redirects[next] ?? [] where found.insert(target).inserted { rest.append(target) }
        }
        return found.contains(path)
    }
}

/// The checks at the end.
extension SimulationCore {
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
        if !waiting.isEmpty, violations.isEmpty {
            let names = waiting.map(\.description).joined(separator: ", ")
            violate(.everyCallEnds, "\(waiting.count) of \(calls.count) calls wait for ever: \(names).")
        }
    }

    func checkRest() {
        let (running, bodies) = state.withLock { ($0.running, $0.openBodies.count) }
        if running > 0 { violate(.nothingStaysOpen, "\(running) exchanges never ended.") }
        if bodies > 0 { violate(.nothingStaysOpen, "\(bodies) streams were neither read to their end nor discarded.") }
    }

    func checkRelease() {
        guard waitingCalls.isEmpty, state.withLock({ $0.networks.contains { $0.network != nil } }) else { return }
        violate(.theChainIsReleased, "Something still holds the client's transport when all has ended.")
    }
}
