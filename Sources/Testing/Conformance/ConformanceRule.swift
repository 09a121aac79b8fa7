/// One promise, as a check: of an interceptor, a transport or a store of a cache.
///
/// ``InterceptorConformance``, ``TransportConformance`` and ``CacheStoreConformance`` list their rules.
public struct ConformanceRule<Factory: Sendable>: Sendable, Hashable, CustomStringConvertible {
    typealias Play = @Sendable (_ content: HTTPBody?, _ patience: RulePatience, _ make: Factory) async throws -> Void

    let text: RuleText
    private let patience: RulePatience
    private let play: Play

    /// - Parameter patience: the usual patience of the kit.
    init(_ text: RuleText, patience: RulePatience, _ play: @escaping Play) {
        self.text = text
        self.patience = patience
        self.play = play
    }

    /// The promise, in the form of a test's name.
    public var name: String { text.name }

    /// Checks that the subject keeps the promise.
    ///
    /// - Parameters:
    ///   - patience: how long nothing may happen before the check fails. By default 10 s, and 3 s for an interceptor. A subject
    ///     that keeps its promises never makes the check wait that long.
    ///   - make: creates the subject. A check may create several.
    /// - Throws: an error that says what the subject did, and the usual repair. A rule of an interceptor
    ///   throws another error if the runtime doesn't let a program order its tasks. Rethrows errors of `make`.
    public func check(patience: Duration? = nil, _ make: Factory) async throws {
        var waits = self.patience
        if let patience { waits.otherThreads = patience }
        try await check(answering: nil, patience: waits, make)
    }

    /// Checks an interceptor that understands one format only.
    ///
    /// - Parameters:
    ///   - content: the content of the server's answers, as `application/json`; for `nil`, an object with a few members.
    ///   - make: creates the interceptor.
    /// - Throws: the errors of ``check(patience:_:)``.
    public func check(answering content: HTTPBody?, _ make: Factory) async throws
    where Factory == InterceptorConformance.Factory {
        try await check(answering: content, patience: patience, make)
    }

    func check(answering content: HTTPBody?, patience: RulePatience, _ make: Factory) async throws {
        do {
            try await play(content, patience, make)
        } catch let error as FactoryError {
            throw error.error
        }
    }

    /// Whether both rules have the same name.
    public static func == (left: Self, right: Self) -> Bool { left.name == right.name }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// The name.
    public var description: String { name }
}

/// The text of a rule.
struct RuleText: Sendable {
    let name: String
    /// The usual repair, as a sentence.
    let repair: String
}

/// The text and the check of a rule, before a subject is known. A bench holds the surroundings of one check.
struct ConformanceLaw<Bench: Sendable, Scope: Sendable>: Sendable {
    let text: RuleText
    /// How many orders of tasks a check tries; `nil` for the kit's usual number.
    let seeds: UInt64?
    /// Says which subjects the rule is for; `nil` for every subject.
    let scope: Scope?
    let body: @Sendable (Bench) async throws -> Void

    init(
        _ name: String,
        repair: String,
        seeds: UInt64? = nil,
        for scope: Scope? = nil,
        _ body: @escaping @Sendable (Bench) async throws -> Void
    ) {
        text = RuleText(name: name, repair: repair)
        self.seeds = seeds
        self.scope = scope
        self.body = body
    }
}

/// Thrown when a promise is broken.
struct RuleFailure: Error, Sendable, CustomStringConvertible {
    let rule: RuleText
    /// The subject's behavior, as a sentence.
    let observed: String
    /// The order of tasks that repeats the failure, if it has one.
    var seed: UInt64?

    var description: String { "\(rule.name): \(observed) \(rule.repair)" + (seed.map { " (seed \($0))" } ?? "") }
}

/// The reason why a check fails, as a sentence.
struct RuleObservation: Error, Sendable, CustomStringConvertible {
    let description: String
    /// The rule that is broken, if not the one that is checked.
    let rule: String?

    init(_ description: String, as rule: String? = nil) { (self.description, self.rule) = (description, rule) }
}

/// An error of the author's closure, which a check rethrows.
struct FactoryError: Error {
    let error: any Error
}

extension RuleText {
    /// Runs a check, and turns what it throws into a failure of this rule.
    ///
    /// - Parameter event: what an error says about the subject, as the beginning of a sentence.
    func judging(_ event: String, _ body: @Sendable () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error as FactoryError {
            throw error
        } catch let observation as RuleObservation {
            throw RuleFailure(rule: self, observed: observation.description)
        } catch {
            throw RuleFailure(rule: self, observed: "\(event): \(error).")
        }
    }

    /// The failure of a check in which nothing goes on.
    ///
    /// - Parameter situation: what waits, as sentences.
    func failure(of standstill: RuleStandstill, _ situation: String) -> RuleFailure {
        let reason =
            switch standstill {
            case .stuck: "Nothing goes on."
            case .endless: "Tasks follow each other without end."
            case .blockedThread: "A task blocks its thread, so that no other can go on."
            }
        return RuleFailure(rule: self, observed: "\(reason) \(situation)")
    }
}

/// Calls the closure with each number below the count, at the same time.
func atOnce(_ count: Int, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
    try await withThrowingTaskGroup { group in
        for number in 0..<count { group.addTask { try await body(number) } }
        try await group.waitForAll()
    }
}

/// Throws unless the values are equal, and says of a missing one that it is absent. The subject begins a sentence, such as
/// "The length".
func expect<Value: Equatable>(_ value: Value?, is expected: Value?, _ subject: String) throws {
    let (one, other) = (value.map { shown($0) } ?? "absent", expected.map { shown($0) } ?? "absent")
    try expect(value == expected, "\(subject) was \(one) instead of \(other).")
}

/// Throws if the values are equal. The subject begins a sentence, such as "The generation".
func expect<Value: Equatable>(_ value: Value, isNot other: Value, _ subject: String) throws {
    try expect(value != other, "\(subject) was \(shown(other)), as before.")
}

func expect(_ condition: Bool, _ observed: @autoclosure () -> String) throws {
    if !condition { throw RuleObservation(observed()) }
}

private func shown<Value>(_ value: Value) -> String {
    let text = "\(value)"
    return text.count > 200 ? "\(text.prefix(200))… (\(text.count) characters)" : text
}
