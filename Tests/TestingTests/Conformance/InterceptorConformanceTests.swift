import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTesting

@Suite(.againstHanging, .heavy) struct InterceptorConformanceTests {
    private typealias Failure = RuleFailure

    // Only one interceptor here waits for another thread.
    private static let patience = RulePatience(otherThreads: .zero)

    /// The rules that find a fault, each named by its failure.
    private static func failures(
        _ roles: [ChainRole],
        patience: RulePatience = patience,
        _ make: @escaping InterceptorConformance.Factory
    ) async throws -> [String: [String]] {
        var failures: [String: [String]] = [:]
        for rule in InterceptorConformance.rules(for: roles) {
            do {
                try await rule.check(answering: nil, patience: patience, make)
            } catch let failure as Failure {
                failures[failure.rule.name, default: []].append("\(rule): \(failure)")
            }
        }
        return failures
    }

    @Test(
        arguments: [[], [.retries], [.validates], [.changesRequest], [.limits], [.changesResponse, .buffers]]
            as [[ChainRole]]
    )
    func interceptorThatOnlyPassesOnKeepsEveryRule(roles: [ChainRole]) async throws {
        let failures = try await Self.failures(roles) { _ in AnyInterceptor.intercept { try await $1($0) } }
        #expect(failures.isEmpty)
    }

    @Test(arguments: CorrectInterceptor.all)
    func correctInterceptorKeepsEveryRule(correct: CorrectInterceptor) async throws {
        // Beside two busy loops the main thread was away for more than the usual three seconds.
        let patience = RulePatience(otherThreads: .seconds(30))
        let failures = try await Self.failures(correct.roles, patience: patience, correct.make)
        #expect(Set(failures.keys) == Set(correct.exceptions), "\(failures)")
    }

    @Test(arguments: BrokenInterceptor.all)
    func brokenInterceptorIsFoundByTheRuleNamedForItAndByNoOther(broken: BrokenInterceptor) async throws {
        let patience = broken.rule == "timeComesFromTheWorld" ? RulePatience() : Self.patience
        let failures = try await Self.failures(broken.roles, patience: patience, broken.make)
        #expect(Set(failures.keys) == [broken.rule], "\(failures)")
    }

    @Test func interceptorThatBlocksItsThreadFailsInsteadOfHanging() async throws {
        defer { BrokenInterceptor.unblock(BrokenInterceptor.blockingSemaphore) }
        let patience = RulePatience(otherThreads: .zero, blockedThread: .milliseconds(300))
        let broken = BrokenInterceptor.blocking
        let failures = try await Self.failures(broken.roles, patience: patience, broken.make)
        #expect(Set(failures.keys) == [broken.rule], "\(failures)")
    }

    /// The report must not wait for the cancellation.
    @Test func interceptorThatBlocksWithALockThatItsCancellationWantsFailsInsteadOfHanging() async throws {
        defer { BrokenInterceptor.unblock(BrokenInterceptor.lockingSemaphore) }
        let broken = BrokenInterceptor.blockingWithALock
        let rule = try #require(InterceptorConformance.rules().first { $0.name == broken.rule })
        let patience = RulePatience(otherThreads: .zero, blockedThread: .milliseconds(300))
        let error = await #expect(throws: Failure.self) {
            try await rule.check(answering: nil, patience: patience, broken.make)
        }
        #expect(error?.rule.name == broken.rule)
    }

    @Test func longContentMayComeByteByByte() async throws {
        let rule = try #require(InterceptorConformance.rules().first { $0.name == "theEndOfAStreamArrives" })
        let content = HTTPBody(Data(repeating: 1, count: 120_000))
        try await rule.check(answering: content) { _ in
            AnyInterceptor.intercept { request, next in
                var response = try await next(request)
                guard response.body.data == nil else { return response }
                response.body = response.body.wrapped(length: response.body.length) { SingleBytes(body: $0) }
                return response
            }
        }
    }

    private struct SingleBytes: AsyncSequence, Sendable {
        let body: HTTPBody
        func makeAsyncIterator() -> Iterator { Iterator(source: body.makeAsyncIterator()) }

        struct Iterator: AsyncIteratorProtocol {
            var source: HTTPBody.AsyncIterator
            var chunk = Data()

            mutating func next() async throws -> Data? {
                if chunk.isEmpty { chunk = try await source.next() ?? Data() }
                return chunk.popFirst().map { Data([$0]) }
            }
        }
    }

    /// A body skips empty chunks, so no reader can count them.
    @Test func streamOfEmptyChunksEndsWhenItWasReported() async throws {
        let rule = try #require(InterceptorConformance.rules().first { $0.name == "theEndOfAStreamArrives" })
        let (isReleased, release) = AsyncStream<Void>.makeStream()
        let patience = RulePatience(otherThreads: .zero, blockedThread: .milliseconds(300))
        let error = await #expect(throws: Failure.self) {
            try await rule.check(answering: nil, patience: patience) { _ in
                AnyInterceptor.intercept { request, next in
                    var response = try await next(request)
                    guard response.body.data == nil else { return response }
                    response.body.discard()
                    response.body = .oneShot(EmptyChunks(holder: Holder(release)))
                    return response
                }
            }
        }
        #expect(error?.rule.name == "noThreadIsBlocked")
        for await _ in isReleased {}
    }

    /// Finishes a stream when nothing holds it any more.
    private final class Holder: Sendable {
        private let released: AsyncStream<Void>.Continuation
        init(_ released: AsyncStream<Void>.Continuation) { self.released = released }
        deinit { released.finish() }
    }

    private struct EmptyChunks: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let holder: Holder
        func makeAsyncIterator() -> Self { self }
        func next() async throws -> Data? { Data() }
    }

    @Test func everyRuleHasABrokenInterceptor() {
        let broken = Set((BrokenInterceptor.all + [BrokenInterceptor.blocking]).map(\.rule))
        #expect(broken == Set(InterceptorConformance.laws.map(\.text.name)))
        #expect(InterceptorConformance.laws.count == Set(InterceptorConformance.laws.map(\.text.name)).count)
    }

    @Test(arguments: InterceptorConformance.laws.map(\.text.name))
    func everyRuleSaysTheRepair(name: String) throws {
        let law = try #require(InterceptorConformance.laws.map(\.text).first { $0.name == name })
        let repair = law.repair
        #expect(repair.hasSuffix(".") && repair.count > 20 && !repair.dropLast().contains(". "), "\(repair)")
        let failure = Failure(rule: law, observed: "It did so.", seed: 3)
        #expect("\(failure)" == "\(name): It did so. \(law.repair) (seed 3)")
    }

    @Test func callThatNeverEndsIsReportedWithWhatWaits() async throws {
        let rule = try #require(InterceptorConformance.rules().first { $0.name == "theResponseComesBack" })
        let error = await #expect(throws: Failure.self) {
            try await rule.check(answering: nil, patience: Self.patience) { _ in
                AnyInterceptor.intercept { request, next in
                    for await _ in AsyncStream(Int.self, { _ in }) {}
                    return try await next(request)
                }
            }
        }
        let reason = "although no thread is blocked and no sleep is left"
        #expect(error?.observed == "1 of 1 calls wait for ever, first GET /things, \(reason).")
        #expect(error?.rule.name == "noCallWaitsForEver")
    }

    @Test func callThatSleepsWithoutEndIsReported() async throws {
        let rule = try #require(InterceptorConformance.rules().first { $0.name == "theResponseComesBack" })
        let error = await #expect(throws: Failure.self) {
            try await rule.check(answering: nil, patience: Self.patience) { world in
                AnyInterceptor.intercept { request, next in
                    while true { try await world.clock.sleep(for: .seconds(1)) }
                }
            }
        }
        #expect(error?.observed == "The interceptor starts jobs or sleeps without end.")
    }

    /// Sleeps on the system's clock may follow each other for hours, in few steps of the check.
    @Test func checkEndsWhenItsRealTimeIsUp() async throws {
        let rule = try #require(InterceptorConformance.rules().first { $0.name == "theResponseComesBack" })
        let error = await #expect(throws: Failure.self) {
            try await rule.check(answering: nil, patience: RulePatience(wholeCheck: .zero)) { _ in
                AnyInterceptor.intercept { request, next in try await next(request) }
            }
        }
        #expect(error?.observed == "The interceptor starts jobs or sleeps without end.")
    }

    @Test func interceptorMayUseAnotherThread() async throws {
        let rule = try #require(InterceptorConformance.rules().first { $0.name == "theResponseComesBack" })
        try await rule.check { _ in
            AnyInterceptor.intercept { request, next in
                await withCheckedContinuation { continuation in DispatchQueue.global().async { continuation.resume() } }
                return try await next(request)
            }
        }
    }

    @Test func rolesComeFromThePlacement() {
        struct Placed: PlacedInterceptor {
            var placement: [ChainRole] { [.stores] }
            func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
                try await next(request)
            }
        }
        let rules = InterceptorConformance.rules(for: [.stores])
        #expect(InterceptorConformance.rules(for: Placed()) == rules)
        #expect(InterceptorConformance.rules(for: AnyInterceptor(Placed())) == rules)
        #expect(InterceptorConformance.rules(for: .intercept { try await $1($0) }) == InterceptorConformance.rules())
        #expect(rules != InterceptorConformance.rules())
    }
}
