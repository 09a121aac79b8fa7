import Foundation
import InterceptorsSyntax
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization

@testable import InterceptorsAuthentication
@testable import InterceptorsMiddlewares

/// The state that one simulation shares: time, randomness, and records that show broken rules.
final class World: Sendable {
    private struct Book {
        var trace: [String] = []
        var violations: [String] = []
        var secrets: [(text: String, owner: String)] = []
        var sends: [Int: Int] = [:]
        var bodyReads: [Int: Int] = [:]
        var openBodies: Set<Int> = []
        var inFlight = 0
        var lastEnd = Duration.zero
        var lastID = 0
        var arrivals = 0
        /// The tokens that the server accepts for each account.
        var validTokens: [String: String] = [:]
        /// The credentials of each account.
        var credentials: [String: [String]] = [:]
        /// Calls on which a server may have acted. They must not be sent again.
        var acted: Set<Int> = []
        /// The call that used each count of a nonce.
        var counts: [String: Int] = [:]
    }

    let clock = ManualClock()
    /// Randomness for events during the simulation. It is deterministic because the simulation is.
    let random: RandomSource
    private let book = Mutex(Book())

    init(seed: UInt64) { random = .seeded(seed) }

    /// The clock, the wall clock and the randomness of every simulated interceptor.
    var time: TimeSource { TimeSource(clock: clock, now: { [self] in now }, random: random) }

    var now: Date { Date(timeIntervalSince1970: 1_700_000_000 + Self.seconds(clock.now.elapsed)) }

    private static func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    }

    var trace: [String] { book.withLock(\.trace) }
    var violations: [String] { book.withLock(\.violations) }

    func note(_ text: String) {
        let time = clock.now.elapsed
        book.withLock { $0.trace.append("\(time): \(text)") }
    }

    func violate(_ rule: String) {
        note("VIOLATION: \(rule)")
        book.withLock { $0.violations.append(rule) }
    }

    func nextID() -> Int {
        book.withLock {
            $0.lastID += 1
            return $0.lastID
        }
    }
}

extension World {
    /// Returns `true` in `percent` of a hundred cases.
    func chance(_ percent: Int) -> Bool { Int(random.next() % 100) < percent }

    func oneOf<Element>(_ elements: [Element]) -> Element { elements[Int(random.next() % UInt64(elements.count))] }

    /// A whole number of milliseconds.
    func milliseconds(upTo limit: Int) -> Duration { .milliseconds(Int(random.next() % UInt64(limit + 1))) }
}

/// Secrets, and the origins that may receive them.
extension World {
    /// - Parameter owner: an origin or, for a cookie, its host, preceded by `https` if the cookie is secure.
    func keep(secret: String, of owner: String) { book.withLock { $0.secrets.append((secret, owner)) } }

    func check(_ request: HTTPRequest) {
        let origin = Origin(request.url)
        let owners = [origin?.description, origin?.host, origin.map { "\($0.scheme) \($0.host)" }]
        let text = request.url.absoluteString + "\n" + request.headers.map(\.value).joined(separator: "\n")
        for secret in book.withLock(\.secrets) where text.contains(secret.text) && !owners.contains(secret.owner) {
            violate("A secret of \(secret.owner) was sent to \(request.url): \(secret.text)")
        }
    }

    func check(printed text: String, of what: String) {
        for secret in book.withLock(\.secrets) where text.contains(secret.text) {
            violate("\(what) shows a secret: \(text)")
        }
    }

    /// The request's caller, as far as a caller's secret shows. Nobody else may see the response.
    static func caller(of request: HTTPRequest) -> String {
        for value in request.headers.map(\.value) {
            guard let secret = value.firstRange(of: "caller-secret-") else { continue }
            return "caller " + value[secret.upperBound...].prefix(while: \.isNumber)
        }
        return "anyone"
    }

    /// Whether a request proves that it may see private content.
    func knows(_ request: HTTPRequest) -> Bool {
        guard let field = request.headers[.authorization] else { return false }
        if field.hasPrefix("Digest ") { return isNew(Challenge.parameters(in: String(field.dropFirst(7))), request) }
        if field == "Basic \(ScriptedTransport.basicSecret)" { return true }
        return book.withLock { book in Accounts.names.contains { field == "Bearer \(book.validTokens[$0] ?? "none")" } }
    }

    private func isNew(_ digest: [String: String], _ request: HTTPRequest) -> Bool {
        guard let nonce = digest["nonce"], let count = digest["nc"] else { return false }
        let call = request.context.simulatedCall?.id ?? 0
        let user = book.withLock { book in
            let user = book.counts["\(nonce) \(count)"] ?? call
            book.counts["\(nonce) \(count)"] = user
            return user
        }
        if user != call { violate("Calls \(user) and \(call) used count \(count) of \(nonce).") }
        return nonce == "nonce-\(clock.now.elapsed.components.seconds / 2)"
    }

    /// A token that the server accepts from now on, instead of the account's older one.
    func makeToken(of account: String) -> String {
        let value = "token-secret-\(nextID())-end"
        keep(secret: value, of: "https://api.test:443")
        keep(credential: value, of: account)
        book.withLock { $0.validTokens[account] = value }
        return value
    }

    func keep(credential: String, of account: String) {
        book.withLock { $0.credentials[account, default: []].append(credential) }
    }

    func secrets(of account: String) -> [String] { book.withLock { $0.credentials[account] ?? [] } }
}

/// Exchanges and bodies that begin and must end.
extension World {
    /// The number of requests that came to the transport, sent or refused.
    var arrivals: Int { book.withLock(\.arrivals) }
    func arrived() { book.withLock { $0.arrivals += 1 } }

    func began(call: Int) {
        book.withLock {
            $0.sends[call, default: 0] += 1
            $0.inFlight += 1
        }
    }

    /// A request that has an effect each time it is sent must not be sent after a server may have acted on it.
    func begin(_ request: HTTPRequest) {
        guard let call = request.context.simulatedCall?.id, Self.hasEffectEachTime(request) else { return }
        if book.withLock({ $0.acted.contains(call) }) {
            violate("Call \(call), a \(request.method), was sent again although a server may have acted on it.")
        }
    }

    func mayHaveActed(on request: HTTPRequest) {
        guard let call = request.context.simulatedCall?.id, Self.hasEffectEachTime(request) else { return }
        book.withLock { _ = $0.acted.insert(call) }
    }

    private static func hasEffectEachTime(_ request: HTTPRequest) -> Bool {
        request.method == .post && !request.headers.contains(.idempotencyKey)
    }

    func ended(call: Int) {
        let time = clock.now.elapsed
        book.withLock {
            $0.inFlight -= 1
            if !Self.isOfARefresh(call) { $0.lastEnd = time }
        }
    }

    /// A refresh has an ID above 1,000, beyond those of the calls, because it serves whichever call needs it.
    private static func isOfARefresh(_ call: Int) -> Bool { call > 1_000 }

    /// When the last exchange of a call ended.
    var lastEnd: Duration { book.withLock(\.lastEnd) }

    func sends(of call: Int) -> Int { book.withLock { $0.sends[call] ?? 0 } }

    var inFlight: Int { book.withLock(\.inFlight) }

    func read(oneShotBodyOf call: Int) {
        let count = book.withLock {
            $0.bodyReads[call, default: 0] += 1
            return $0.bodyReads[call] ?? 0
        }
        if count > 1 { violate("The one-shot body of call \(call) was read \(count) times.") }
    }

    func opened(body: Int) { book.withLock { _ = $0.openBodies.insert(body) } }
    func closed(body: Int) { book.withLock { _ = $0.openBodies.remove(body) } }
    var openBodies: Set<Int> { book.withLock(\.openBodies) }
}

/// Data that a simulated request carries, so that the transport can check the request.
struct SimulatedCall: Sendable {
    let id: Int
    let method: HTTPRequest.Method
    let body: String
}

extension HTTPContext {
    private enum CallKey: HTTPContextKey { static var defaultValue: SimulatedCall? { nil } }

    var simulatedCall: SimulatedCall? {
        get { self[CallKey.self] }
        set { self[CallKey.self] = newValue }
    }
}
