import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares
@testable import InterceptorsTraffic

@Suite(.againstHanging) struct LatestDeadlineTests {
    private let clock = ManualClock()

    @Test func sleepUntilTheLatestDeadlineFollowsThoseWhoJoin() async throws {
        let deadlines = Shared<[Deadline?]>([Deadline(after: .seconds(1), time: .manual(clock))])
        let latest = Deadline.latest { deadlines.value }
        let woken = Tally()
        let sleeper = Task {
            try await latest.sleep()
            woken.count()
        }
        await clock.sleepers(1)
        deadlines.change { $0.append(Deadline(after: .seconds(3), time: .manual(clock))) }
        clock.advance(by: .seconds(1))
        await clock.sleepers(1)
        #expect(woken.value == 0)
        clock.advance(by: .seconds(2))
        try await sleeper.value
        #expect(woken.value == 1)
    }
}
