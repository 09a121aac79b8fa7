import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import Synchronization
import Testing

@testable import InterceptorsTransfers

/// The order in which the progress of an upload is told.
@Suite(.againstHanging) struct UploadProgressTests {
    @Test func aReportDuringAReportComesAfterIt() async {
        let seen = Mutex<[Int64]>([])
        let box = Shared<UploadProgress?>(nil)
        let progress = UploadProgress(total: 100) { report in
            // Stands for a second thread that reports while the first is still in the handler.
            if report.completed == 10 { box.value?.report(20) }
            seen.withLock { $0.append(report.completed) }
        }
        box.value = progress
        progress.report(10)
        #expect(seen.withLock { $0 } == [10, 20])
    }

    @Test func theEndWaitsForTheHandlerOnAnotherThread() async {
        let (entered, left) = (Latch(), DispatchSemaphore(value: 0))
        let seen = Shared<[Int64]>([])
        let progress = UploadProgress(total: 100) { report in
            if report.completed == 10 {
                entered.open()
                left.wait()
            }
            seen.change { $0.append(report.completed) }
        }
        Thread.detachNewThread { progress.report(10) }
        await entered.opened()
        async let counts: [Int64] = {
            await progress.finish()
            return seen.value
        }()
        left.signal()
        #expect(await counts == [10, 100])
    }

    @Test func reportsOfManyThreadsNeverGoBackAndEndWithTheTotal() async {
        for _ in 0..<50 {
            let seen = Mutex<[Int64]>([])
            let progress = UploadProgress(total: 200) { report in seen.withLock { $0.append(report.completed) } }
            await withTaskGroup { group in
                for task in 0..<4 {
                    group.addTask { for count in 0..<50 { progress.report(Int64(count * 4 + task)) } }
                }
            }
            await progress.finish()
            let counts = seen.withLock { $0 }
            #expect(counts == counts.sorted() && Set(counts).count == counts.count)
            #expect(counts.last == 200)
        }
    }
}
