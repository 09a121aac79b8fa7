import InterceptorsTestSupport
import Testing

// Each test target links to this file, because a library that imports Testing can't be built without the tests.

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that hangs. The limit is far beyond what any test needs on the busiest machine: no test is judged by
    /// its speed.
    static var againstHanging: Self { .timeLimit(.minutes(60)) }
}

/// Runs suites that keep the machine busy one after another, so that no suite starves the others.
struct HeavyTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await WorkLine.heavy.run(function)
    }
}

extension Trait where Self == HeavyTrait {
    /// Runs the suite while no other heavy suite runs.
    static var heavy: Self { HeavyTrait() }
}

#if os(Linux) || os(macOS)
extension Trait where Self == ConditionTrait {
    /// Skips a test where curl isn't installed, but not in CI.
    static var needsCurl: Self { .enabled(if: Program.mustRunTests(with: "curl"), "This test needs the program curl.") }
}
#endif
