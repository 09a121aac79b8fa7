import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct TransferRateTests {
    private let clock = ManualClock()

    private func estimates(
        _ reports: [(after: Duration, completed: Int64)],
        total: Int64? = nil
    ) -> [TransferRate.Estimate] {
        let rate = TransferRate(time: .manual(clock))
        return reports.map { report in
            clock.advance(by: report.after)
            return rate.estimate(after: TransferProgress(completed: report.completed, total: total))
        }
    }

    @Test func speedIsTheMeanOfTheReportsInTheWindow() {
        let seconds = Array(repeating: Duration.seconds(1), count: 30)
        // A slow start of 10 seconds, then ten times as fast.
        let reports = seconds.enumerated().map { index, second in
            (second, Int64(index < 10 ? index * 100 : 1_000 + (index - 10) * 1_000))
        }
        let speeds = estimates(reports).map(\.bytesPerSecond)
        #expect(speeds[0] == nil)
        #expect(speeds[5] == 100)
        #expect(speeds[29] == 1_000)
    }

    @Test func bytesOfTheFirstReportDoNotCount() {
        let last = estimates([(.zero, 5_000_000), (.seconds(2), 5_000_200)], total: 5_001_200).last
        #expect(last?.bytesPerSecond == 100)
        #expect(last?.timeLeft == .seconds(10))
    }

    @Test func downloadThatStartsOverIsMeasuredFromThere() {
        let all = estimates([(.zero, 900), (.seconds(1), 1_000), (.seconds(1), 10), (.seconds(1), 30)])
        #expect(all.map(\.bytesPerSecond) == [nil, 100, nil, 20])
    }

    @Test func reportsThatComeTogetherGiveNoSpeed() {
        let all = estimates([(.zero, 0), (.zero, 1_000), (.milliseconds(1), 2_000), (.milliseconds(499), 3_000)])
        #expect(all.map(\.bytesPerSecond) == [nil, nil, nil, 6_000])
    }

    @Test func rareReportsHaveASpeed() {
        #expect(
            estimates([(.zero, 0), (.seconds(60), 600), (.seconds(60), 1_800)]).map(\.bytesPerSecond) == [nil, 10, 20]
        )
    }

    /// Just after a pause, the time since is too short for a speed.
    @Test func speedIsKnownRightAfterAPause() {
        let all = estimates([(.zero, 0), (.seconds(60), 600), (.milliseconds(100), 601)])
        #expect(all.map(\.bytesPerSecond) == [nil, 10, 10])
    }

    @Test func stalledTransferSlowsDownToZero() throws {
        let rate = TransferRate(time: .manual(clock))
        #expect(rate.estimate() == nil)
        _ = rate.estimate(after: TransferProgress(completed: 0, total: 1_000))
        clock.advance(by: .seconds(1))
        let report = TransferProgress(completed: 600, total: 1_000)
        let (reported, asked) = (rate.estimate(after: report), try #require(rate.estimate()))
        #expect(reported == asked)
        clock.advance(by: .seconds(5))
        #expect(rate.estimate()?.bytesPerSecond == 100)
        #expect(rate.estimate()?.timeLeft == .seconds(4))
        clock.advance(by: .seconds(60))
        let stalled = try #require(rate.estimate())
        #expect(stalled.bytesPerSecond == 0)
        #expect(stalled.timeLeft == nil)
    }

    @Test func transferThatStartsOverBetweenKeptReportsIsMeasuredFromThere() {
        let reports: [(after: Duration, completed: Int64)] = [
            (.zero, 100), (.milliseconds(250), 40_000), (.milliseconds(125), 100), (.milliseconds(500), 150),
        ]
        #expect(estimates(reports).map(\.bytesPerSecond) == [nil, nil, nil, 100])
    }

    @Test func timeLeftNeedsATotalAndIsZeroAtTheEnd() {
        #expect(estimates([(.zero, 0), (.seconds(1), 10)]).last?.timeLeft == nil)
        #expect(estimates([(.zero, 0), (.seconds(1), 10)], total: 10).last?.timeLeft == .zero)
        #expect(estimates([(.zero, 0)], total: 0).last?.timeLeft == .zero)
    }

    @Test func extremeCountsAndSpansGiveNoTrap() {
        let all = estimates([(.zero, .min), (.seconds(1), .max), (.seconds(1_000_000_000), .max)], total: .max)
        #expect(all.last?.timeLeft == .zero)
        #expect(estimates([(.zero, 0), (.seconds(1_000_000), 1)], total: .max).last?.timeLeft == nil)
    }

    @Test func memoryIsBounded() {
        var window = RateWindow(length: .seconds(10))
        for report in 0..<100_000 {
            window.add(TransferProgress(completed: Int64(report), total: nil), at: .milliseconds(report))
        }
        #expect(window.count <= 21)
    }

    @Test func progressOfFoundationShowsBytesSpeedAndTimeLeft() throws {
        let progress = Progress(totalUnitCount: -1)
        let handler = progress.transferHandler(time: .manual(clock))
        handler(TransferProgress(completed: 0, total: nil))
        #expect(progress.isIndeterminate)
        handler(TransferProgress(completed: 100, total: 1_100))
        clock.advance(by: .seconds(2))
        handler(TransferProgress(completed: 300, total: 1_100))
        #expect(progress.totalUnitCount == 1_100)
        #expect(progress.completedUnitCount == 300)
        #expect(progress.userInfo[.throughputKey] as? Int == 150)
        let left = try #require(progress.userInfo[.estimatedTimeRemainingKey] as? Double)
        #expect(abs(left - 800.0 / 150) < 0.001)
    }
}
