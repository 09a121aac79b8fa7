import TestSupport
import Testing

// Each test target holds a link to this file: a library that imports Testing could not be built without the tests.

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that hangs. On a busy machine a test may take many times as long as on a quiet one, so the limit is far
    /// beyond what any test needs: no test is judged by time.
    static var againstHanging: Self { .timeLimit(.minutes(60)) }
}

/// Suites that keep the machine busy, one after the other, so that none starves the others.
struct HeavyTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await HeavyWork.shared.run(function)
    }
}

extension Trait where Self == HeavyTrait {
    /// Runs the suite while no other heavy one runs.
    static var heavy: Self { HeavyTrait() }
}
