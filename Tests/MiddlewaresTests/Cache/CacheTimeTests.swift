import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct CacheTimeTests {
    // Near 1970, a Double in seconds distinguishes nanoseconds, so rounding errors would show.
    @Test(arguments: [0.0, 1.0, 1e9])
    func wholeSecondsThatPassAreWholeSeconds(now: Double) {
        let clock = ManualClock()
        let time = CacheTime(TimeSource(clock: clock, now: { Date(timeIntervalSince1970: now) }))
        var expected = time.read().steady
        #expect(expected == Int64(now))
        for seconds in [1, 8, 1, 10, 60, 3600, 86_400, 31_536_000] {
            clock.advance(by: .seconds(seconds))
            expected += Int64(seconds)
            #expect(time.read().steady == expected)
        }
    }

    @Test func aTimeFarAheadIsBounded() {
        let clock = ManualClock()
        let time = CacheTime(TimeSource(clock: clock, now: { Date(timeIntervalSince1970: 1e300) }))
        for _ in 0..<3 {
            clock.advance(by: .seconds(Int64.max / 8))
            let reading = time.read()
            #expect(reading.steady == 1_000_000_000_000)
            #expect(reading.wall == 1_000_000_000_000)
        }
    }
}
