import Foundation
import InterceptorsInsight
import InterceptorsTestSupport
import Synchronization

@testable import InterceptorsMiddlewares

/// The rules for each call, and for the time after everything has ended.
extension Simulation {
    func check(_ chain: RandomChain, calls: Int) {
        for id in 1...calls {
            guard let state = states.value[id] else { continue }
            check(state, of: id, chain)
        }
        if world.inFlight != 0 { world.violate("\(world.inFlight) exchanges never ended.") }
        // A cache may still revalidate in the background.
        let last = states.value.values.compactMap(\.endedAt).max() ?? .zero
        if !chain.names.contains("cache"), world.lastEnd > last {
            world.violate("The calls ended at \(last), and what was sent for them only at \(world.lastEnd).")
        }
        if !world.openBodies.isEmpty {
            world.violate("\(world.openBodies.count) bodies were neither read nor discarded.")
        }
        for tokens in chain.stores where tokens.flights.withLock({ $0.flight != nil }) {
            world.violate("A refresh never ended.")
        }
        for check in chain.finalChecks { check() }
    }

    /// The journal has each call once, ended, with each exchange, and without secrets.
    func check(_ journal: Journal, calls count: Int) {
        let calls = journal.calls
        let attempts = calls.flatMap(\.attempts)
        if attempts.count != world.arrivals {
            world.violate("The journal has \(attempts.count) attempts, and the transport got \(world.arrivals).")
        }
        if calls.count(where: { $0.parentID == nil }) > count + world.arrivals {
            world.violate("The journal has \(calls.count) calls.")
        }
        if Set(calls.map(\.id)).count != calls.count { world.violate("The journal has a call twice.") }
        for call in calls {
            if call.omittedCount > 0 { world.violate("The journal left out \(call.omittedCount) of call \(call.id).") }
            guard let root = call.root, Self.hasEnded(root) else {
                world.violate("The journal has no end of call \(call.id):\n\(call.explained)")
                continue
            }
            world.check(printed: "\(call)\n\(call.explained)\n\(Self.values(root))", of: "The journal")
        }
        world.check(printed: String(decoding: journal.har(), as: UTF8.self), of: "The archive")
    }

    // Printing a field would redact its value.
    private static func values(_ step: JournalCall.Step) -> [String] {
        let fields = [step.request.fields] + (step.response.map { [$0.fields] } ?? [])
        return fields.flatMap { $0.map(\.value) } + step.steps.flatMap(values)
    }

    private static func hasEnded(_ step: JournalCall.Step) -> Bool {
        step.duration != nil && (step.response == nil) != (step.error == nil) && step.steps.allSatisfy(hasEnded)
    }

    private func check(_ state: CallState, of id: Int, _ chain: RandomChain) {
        if state.ends != 1 { world.violate("Call \(id) ended \(state.ends) times: a deadlock, if it did not.") }
        if let cancelled = state.cancelledAt, let ended = state.endedAt, ended > cancelled {
            world.violate("Call \(id) was cancelled at \(cancelled) and ended at \(ended).")
        }
        if state.cancelledAt == nil, state.error is CancellationError, !mayBeOvertaken(id, chain) {
            world.violate("Call \(id) failed with CancellationError, although nobody cancelled it.")
        }
        if chain.isWholeTimed, let took = state.took, let began = state.began {
            let left = state.deadline.map { max(.zero, $0 - began) }
            if let limit = [chain.wholeLimit, left].compactMap({ $0 }).min(), took > limit {
                world.violate("Call \(id) took \(took), with a limit of \(limit).")
            }
        }
        let sends = world.sends(of: id)
        if sends > chain.mostSends { world.violate("Call \(id) was sent \(sends) times, of \(chain.mostSends).") }
        checkOvertaking(of: id, chain)
    }

    private func mayBeOvertaken(_ id: Int, _ chain: RandomChain) -> Bool {
        switch chain.overtaking {
        case .never: false
        case .outermost: !later(than: id).isEmpty
        // An outer interceptor may have turned one call into several, or several into one.
        case .inside: true
        }
    }

    /// The times at which later calls with the same key began.
    private func later(than id: Int) -> [Duration] {
        let states = states.value
        guard let state = states[id], let key = state.key, let began = state.began else { return [] }
        return states.filter { $0.key != id && $0.value.key == key }.compactMap(\.value.began).filter { $0 >= began }
    }

    private func checkOvertaking(of id: Int, _ chain: RandomChain) {
        guard chain.overtaking == .outermost, let state = states.value[id], !state.isStreamed, let began = state.began,
            let ended = state.endedAt, let next = later(than: id).filter({ $0 > began }).min()
        else { return }
        if ended > next { world.violate("Call \(id) was overtaken at \(next) and ended at \(ended).") }
    }

    static func check(
        _ response: HTTPResponse,
        of request: HTTPRequest,
        _ id: Int,
        _ accounts: Accounts,
        since start: Duration
    ) {
        let world = accounts.world
        let permitted = accounts.permitted(request, since: start)
        for account in response.headers[values: "X-Account"] where !permitted.contains(account) {
            world.violate("Call \(id) of \(permitted.sorted()) got an answer that was made for \(account).")
        }
        // A redirect drops the secret, so anyone may get the response. In a named partition, secrets tell no callers
        // apart.
        let isNamed = request.context.simulatedAccount != nil || accounts.areNamedByTokens
        let caller = isNamed ? "anyone" : response.headers["X-For"] ?? "anyone"
        if caller != "anyone", caller != World.caller(of: request) {
            world.violate("Call \(id) got an answer that was made for \(caller).")
        }
        let origin = response.headers["X-URL"]
        if response.context.redirects.isEmpty, let origin, origin != request.url.absoluteString {
            world.violate("Call \(id) to \(request.url) got what \(origin) answered.")
        }
    }
}
