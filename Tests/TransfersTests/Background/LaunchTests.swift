import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTransfers

/// The launch among the session's reports, and the wakes of the system.
@Suite(.againstHanging) struct LaunchTests {
    private static let task = TransferRecord.download().task

    /// The states in which an earlier launch can have left a record, with its file where the state says so.
    private static var disks: [FakeDisk] {
        let phases: [TransferRecord.Phase] = [
            .enqueued, .renewing(TransferFailure(.transferLost, "lost")), .staged(.status(200)),
            .ended(.finished(.status(200))), .ended(.cancelled),
        ]
        return phases.map { phase in
            var record = TransferRecord.download()
            record.phase = phase
            let isPlaced = phase == .ended(.finished(.status(200)))
            let hidden: Set<String> = phase == .staged(.status(200)) ? ["a"] : []
            return FakeDisk(records: ["a": record], hidden: hidden, files: [oldFile: isPlaced ? "new" : "old"])
        }
    }

    @Test func launchAtAnyMomentAmongTheReportsDeliversEachEndOnce() {
        let events: [TransferEvent] = [
            .launched, .launched, .downloaded(Self.task, .status(200), receivedFile),
            .completed(Self.task, .status(200), failure: nil), .cancelled(Self.task.id),
            .listed([ListedTask(number: 1, task: Self.task)], isFinal: true),
        ]
        for disk in Self.disks {
            for order in permutations(Array(events.indices)) {
                var world = ProcessWorld(disk, isLaunched: false)
                for index in order { world.handle(events[index]) }
                world.finish()
                #expect(world.ends.count == 1, "\(order)")
                #expect(world.storage.disk.records.isEmpty && world.storage.disk.hidden.isEmpty, "\(order)")
            }
        }
    }

    @Test func endIsDeliveredOnceAlthoughItsClosureRunsDuringTheLaunch() {
        var world = ProcessWorld(FakeDisk(records: ["a": .download()]), isLaunched: false)
        world.handle(.completed(Self.task, nil, failure: TransferFailure(.timedOut, "late")))
        world.handle(.launched)
        #expect(world.ends.count == 1)
        world.deliverNext()
        #expect(world.machine.records.isEmpty)
    }

    @Test func onlyATaskOfAnOpenTransferIsResumed() {
        for disk in Self.disks {
            var world = ProcessWorld(disk)
            let suspended = ListedTask(number: 3, task: Self.task, state: .suspended)
            world.handle(.listed([suspended, ListedTask(number: 4, task: nil, state: .suspended)], isFinal: false))
            let isOpen = world.ends.isEmpty
            #expect(world.resumedNumbers == (isOpen ? [3] : []))
            #expect(world.cancelledNumbers == (isOpen ? [4] : [3, 4]))
        }
    }

    @Test(arguments: [ListedTask.State.running, .suspended, .ending], [1, 3])
    func taskOfAnotherAttemptIsCancelled(state: ListedTask.State, attempt: Int) {
        var record = TransferRecord.download()
        record.attempt = 2
        var world = ProcessWorld(FakeDisk(records: ["a": record]))
        let other = ListedTask(number: 3, task: TransferTask(id: record.id, attempt: attempt), state: state)
        world.handle(.listed([other], isFinal: true))
        #expect(world.cancelledNumbers == [3])
        #expect(world.resumedNumbers.isEmpty && world.cancelled.isEmpty)
        #expect(world.ends.map(\.ending) == [.failed(.lost)], "its own task is gone")
    }

    @Test(arguments: [ListedTask.State.running, .ending])
    func taskThatRunsOrEndsIsNotResumed(state: ListedTask.State) {
        var world = ProcessWorld(FakeDisk(records: ["a": .download()]))
        world.handle(.listed([ListedTask(number: 3, task: Self.task, state: state)], isFinal: true))
        #expect(world.resumedNumbers.isEmpty && world.cancelledNumbers.isEmpty && world.ends.isEmpty)
    }
}

// Wakes.
extension LaunchTests {
    /// A process with one running transfer, in which events have ended while nobody waited.
    private static func afterAnEarlierEnd() -> ProcessWorld {
        var world = ProcessWorld(FakeDisk())
        world.handle(.eventsFinished)
        world.enqueue(.download())
        world.handle(.started(task))
        return world
    }

    @Test func wakeIsNotEndedByTheEventsOfAnEarlierOne() {
        var world = Self.afterAnEarlierEnd()
        world.handle(.awaited(1))
        #expect(world.resumed.isEmpty && world.comparing == [1])
        // The task has ended, and its report is still to come.
        world.handle(.compared(1, []))
        #expect(world.resumed.isEmpty)
        world.handle(.downloaded(Self.task, .status(200), receivedFile))
        world.handle(.completed(Self.task, .status(200), failure: nil))
        #expect(world.resumed.isEmpty)
        world.deliverNext()
        #expect(world.resumed == [1])
    }

    @Test func wakeWhoseEventsEndedBeforeTheCallerWaitsIsEnded() {
        var world = Self.afterAnEarlierEnd()
        world.handle(.awaited(1))
        world.handle(.compared(1, [ListedTask(number: 7, task: Self.task)]))
        #expect(world.resumed == [1])
    }

    @Test func taskThatIsEndingKeepsTheWakeUntilItsReport() {
        var world = Self.afterAnEarlierEnd()
        world.handle(.awaited(1))
        world.handle(.compared(1, [ListedTask(number: 7, task: Self.task, state: .ending)]))
        #expect(world.resumed.isEmpty)
        world.handle(.eventsFinished)
        #expect(world.resumed == [1])
    }

    @Test func transferThatWasStartedDuringTheComparisonKeepsNoWake() {
        var world = ProcessWorld(FakeDisk())
        world.handle(.eventsFinished)
        world.handle(.awaited(1))
        world.enqueue(.download())
        world.handle(.compared(1, []))
        #expect(world.resumed.isEmpty)
        world.handle(.started(Self.task))
        #expect(world.resumed == [1])
    }

    @Test func eachWakeNeedsItsOwnEndOfEvents() {
        var world = Self.afterAnEarlierEnd()
        world.handle(.awaited(1))
        world.handle(.eventsFinished)
        #expect(world.resumed == [1])
        world.handle(.awaited(2))
        #expect(world.resumed == [1] && world.comparing == [1])
        world.handle(.eventsFinished)
        #expect(world.resumed == [1, 2])
    }

    @Test func callerThatWaitsNoMoreTakesNoEndFromALaterOne() {
        var world = ProcessWorld(FakeDisk())
        world.handle(.awaited(1))
        world.handle(.abandoned(1))
        world.handle(.eventsFinished)
        world.handle(.awaited(2))
        world.handle(.compared(2, []))
        #expect(world.resumed == [2])
    }
}
