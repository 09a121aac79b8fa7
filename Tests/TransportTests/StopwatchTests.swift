import Synchronization
import Testing

@testable import InterceptorsTransport

/// A clock with the instants of `ContinuousClock` and a time of its test.
private final class OffsetClock: Clock, Sendable {
    typealias Instant = ContinuousClock.Instant
    private let offset = Mutex(Swift.Duration.zero)
    private let start = ContinuousClock.now

    var now: Instant { start.advanced(by: offset.withLock { $0 }) }
    let minimumResolution = Swift.Duration.nanoseconds(1)

    func advance(by duration: Swift.Duration) { offset.withLock { $0 += duration } }
    func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {}
}

@Suite(.againstHanging) struct StopwatchTests {
    @Test func aClockWithTheInstantsOfTheSystemsKeepsItsTime() {
        let clock = OffsetClock()
        let stopwatch = Stopwatch.starting(clock)
        #expect(stopwatch.elapsed() == .zero)
        clock.advance(by: .seconds(100))
        #expect(stopwatch.elapsed() == .seconds(100))
        #expect(!stopwatch.isTheSystems)
    }
}
