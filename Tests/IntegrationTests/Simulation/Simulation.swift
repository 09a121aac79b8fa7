import Foundation
import InterceptorsInsight
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTraffic
import Synchronization

@testable import InterceptorsMiddlewares

/// One random chain, several concurrent calls through it, and rules that must hold whatever happens.
struct Simulation {
    /// The result of a simulation.
    struct Outcome {
        let chain: [String]
        let violations: [String]
        let trace: [String]
        let calls: Int
        /// The journal's HTTP Archive, with the number of entries that it must have.
        var archive: (har: Data, entries: Int)?
    }

    struct CallState {
        var key: Int?
        var isStreamed = false
        var deadline: Duration?
        var began: Duration?
        var cancelledAt: Duration?
        var endedAt: Duration?
        var ends = 0
        /// The time until the response, or until its head if it is streamed.
        var took: Duration?
        var error: (any Error)?
    }

    let world: World
    private let queue: JobQueue
    let states = Shared<[Int: CallState]>([:])
    private var random: SeededGenerator
    /// The percentage of requests that use the most common URL.
    private var usual = 0
    /// Half of the simulations have a journal.
    private let journal: Journal?

    private init(seed: UInt64) throws {
        world = World(seed: seed &* 31 &+ 7)
        queue = try JobQueue(seed: seed)
        random = SeededGenerator(seed: seed)
        journal = seed % 4 < 2 ? Journal(time: world.time) : nil
    }

    /// - Parameter isArchived: whether the outcome has the HTTP Archive of the calls, if the seed has a journal.
    static func run(seed: UInt64, isArchived: Bool = false) throws -> Outcome {
        var simulation = try Simulation(seed: seed)
        var outcome = try simulation.run()
        if isArchived, let journal = simulation.journal {
            outcome.archive = (journal.har(), journal.calls.entryCount)
        }
        return outcome
    }

    private mutating func run() throws -> Outcome {
        let probe = Probe()
        weak var leaked: Probe?
        leaked = probe
        let (names, calls) = try runChain(consume probe)
        if leaked != nil { world.violate("The chain is still held by something when all has ended.") }
        return Outcome(chain: names, violations: world.violations, trace: world.trace, calls: calls)
    }

    private mutating func runChain(_ probe: Probe) throws -> (names: [String], calls: Int) {
        let refresher = Refresher(world)
        let accounts = Accounts(
            world,
            isOfEachCall: Int.random(in: 0..<3, using: &random) == 0,
            signedIn: random.oneOf([nil, "ada", "ada", "bob"])
        )
        let chain = RandomChain(accounts, &random, refresher: refresher)
        let transport = ScriptedTransport(
            world: world,
            trouble: Int.random(in: 0...90, using: &random),
            storable: Int.random(in: 0...90, using: &random)
        )
        let hold: AnyInterceptor = .intercept { [probe] request, next in
            _ = probe
            return try await next(request)
        }
        let client = Client(
            baseURL: URL(string: ScriptedTransport.hosts[0]),
            interceptors: chain.interceptors + [hold],
            transport: transport,
            observer: journal
        )
        let direct = Client(interceptors: [], transport: transport, observer: journal)
        refresher.client.value = Bool.random(using: &random) ? client : direct
        let count = Int.random(in: 1...8, using: &random)
        usual = random.oneOf([0, 30, 90])
        queue.enter { for number in 1...count { start(number, client, accounts) } }
        queue.enter { disturb(accounts, chain) }
        play()
        refresher.client.value = nil
        check(chain, calls: count)
        if let journal { check(journal, calls: count) }
        return (chain.names, count)
    }

    /// Alternates between running jobs and advancing virtual time, until neither is left.
    private func play() {
        var steps = 0
        while steps < 200_000 {
            steps += queue.runAll(limit: 200_000)
            guard let next = world.clock.nextDeadline else { return }
            queue.enter { world.clock.advance(to: next) }
            steps += 1
        }
        world.violate("It goes on without end.")
    }
}

extension Simulation {
    private final class Probe: Sendable {}

    private mutating func start(_ id: Int, _ client: Client, _ accounts: Accounts) {
        var request = makeRequest(id)
        if accounts.isOfEachCall { request.context.simulatedAccount = random.oneOf(["ada", "bob", nil]) }
        let (world, states) = (world, states)
        let delay = Duration.milliseconds(Int.random(in: 0...8_000, using: &random))
        let readsAll = Int.random(in: 0..<100, using: &random) < 70
        let task = Task { [request] in
            var failure: (any Error)?
            do {
                try await world.clock.sleep(for: delay)
                let start = world.clock.now.elapsed
                states.change { $0[id]?.began = start }
                let response = try await Self.timed(world, { took in states.change { $0[id]?.took = took } }) {
                    try await client.send(request)
                }
                world.note("call #\(id) gets \(response.status.code)")
                Self.check(response, of: request, id, accounts, since: start)
                if readsAll { _ = try await response.body.collect(upTo: 1 << 16) } else { response.body.discard() }
            } catch {
                failure = error
                world.check(printed: "\(error) \(String(reflecting: error))", of: "The error of call #\(id)")
            }
            world.note("call #\(id) ends \(failure.map { "\(type(of: $0))" } ?? "well")")
            states.change { [failure] in
                $0[id]?.ends += 1
                $0[id]?.endedAt = world.clock.now.elapsed
                $0[id]?.error = failure
            }
        }
        guard Int.random(in: 0..<100, using: &random) < 35 else { return }
        let cancelAfter = delay + .milliseconds(Int.random(in: 0...6_000, using: &random))
        Task {
            try await world.clock.sleep(for: cancelAfter)
            states.change { if $0[id]?.ends == 0 { $0[id]?.cancelledAt = world.clock.now.elapsed } }
            world.note("cancel #\(id)")
            task.cancel()
        }
    }

    private static func timed<Value>(
        _ world: World,
        _ note: (Duration) -> Void,
        _ body: () async throws -> Value
    ) async rethrows -> Value {
        let begin = world.clock.now.elapsed
        defer { note(world.clock.now.elapsed - begin) }
        return try await body()
    }

    private mutating func makeRequest(_ id: Int) -> HTTPRequest {
        let method = random.oneOf([.get, .get, .get, .post, .put, .delete] as [HTTPRequest.Method])
        let host = random.oneOf([ScriptedTransport.hosts[0], ScriptedTransport.hosts[0]] + ScriptedTransport.hosts)
        let path = random.oneOf(["/a", "/private/b", "/private/b?q=1"])
        // Often the same URL as other requests.
        let isUsual = Int.random(in: 0..<100, using: &random) < usual
        let url = URL(string: isUsual ? ScriptedTransport.hosts[0] + "/a" : host + path)!
        var request = HTTPRequest(method: method, url: url)
        var text = ""
        if method == .post || method == .put {
            text = "the content of call \(id)"
            let (world, sent) = (world, text)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: request.body = HTTPBody(text)
            case 1: request.body = .restartable { OnceOnly(world: world, call: 1_000_000 + world.nextID(), text: sent) }
            default: request.body = .oneShot(OnceOnly(world: world, call: id, text: text))
            }
        }
        if let origin = Origin(url), !isUsual, Int.random(in: 0..<100, using: &random) < 40 {
            let secret = "caller-secret-\(id)"
            world.keep(secret: secret, of: origin.description)
            request.headers[random.oneOf([.authorization, .cookie, "X-Api-Key"])] = secret
        }
        var state = CallState()
        state.isStreamed = Bool.random(using: &random)
        if state.isStreamed { request.context.responseBody = .streamed }
        if Int.random(in: 0..<100, using: &random) < 20 {
            let limit = Duration.milliseconds(Int.random(in: 1...20_000, using: &random))
            state.deadline = limit
            request.context.deadline = Deadline(after: limit, time: world.time)
        }
        if Int.random(in: 0..<100, using: &random) < 40 {
            let key = Int.random(in: 1...2, using: &random)
            state.key = key
            request.context.latestKey = key
        }
        states.change { [state] in $0[id] = state }
        request.context.simulatedCall = SimulatedCall(id: id, method: method, body: text)
        return request
    }

    /// Signs in and out, and changes the network, while requests are under way.
    private mutating func disturb(_ accounts: Accounts, _ chain: RandomChain) {
        let (world, stores) = (world, chain.stores)
        for network in chain.networks {
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                let delay = Duration.milliseconds(Int.random(in: 0...20_000, using: &random))
                let path: NetworkPath = random.oneOf([.satisfied, .unsatisfied, .unsatisfied, .unknown])
                Task {
                    try await world.clock.sleep(for: delay)
                    network.update(path)
                }
            }
        }
        for _ in 0..<Int.random(in: 0...5, using: &random) {
            let delay = Duration.milliseconds(Int.random(in: 0...8_000, using: &random))
            let account = random.oneOf(["ada", "bob", nil])
            let index = Int.random(in: 0..<2, using: &random)
            Task {
                try await world.clock.sleep(for: delay)
                guard accounts.isOfEachCall else { return accounts.change(to: account) }
                guard index < stores.count else { return }
                let tokens = stores[index]
                if account == nil {
                    tokens.signOut()
                } else {
                    tokens.signIn(.init(world.makeToken(of: Accounts.names[index])))
                }
            }
        }
    }
}
