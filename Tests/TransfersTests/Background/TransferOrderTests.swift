import Foundation
import Interceptors
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTransfers

/// Every order of a transfer's events, and a kill after each change of the disk.
@Suite(.againstHanging) struct TransferOrderTests {
    private static let file = receivedFile
    private static let task = TransferRecord.download().task

    /// The events that a session and an app may send for one download, besides its beginning.
    private static let events: [TransferEvent] = [
        .progressed(task),
        .downloaded(task, .status(200), file),
        .completed(task, .status(200), failure: nil),
        .completed(task, nil, failure: TransferFailure(.timedOut, "late")),
        .cancelled(task.id),
        .listed([ListedTask(number: 1, task: task)], isFinal: true),
        .awaited(7),
        .eventsFinished,
    ]

    /// The checks after everything that could happen has happened.
    private static func problem(_ world: ProcessWorld, awaits: Bool = false) -> String? {
        let endings = world.ends.map(\.ending)
        let isNew = world.storage.disk.files[oldFile] == "new"
        if endings.count != 1 { return "\(endings.count) ends" }
        if case .finished = endings[0] {
            if !isNew { return "a success without the file" }
        } else if isNew {
            return "the file in spite of \(endings[0])"
        }
        if world.wasResumedTooSoon { return "resumed before the ends were delivered" }
        if world.resumed.count != Set(world.resumed).count { return "resumed twice" }
        if awaits, world.resumed != [7] { return "never resumed" }
        if !world.storage.disk.records.isEmpty { return "a record is left" }
        if !world.storage.disk.hidden.isEmpty { return "a hidden file is left" }
        if !world.machine.records.isEmpty { return "a transfer is left" }
        return nil
    }

    private static func begun(
        _ disk: FakeDisk = FakeDisk(files: [oldFile: "old"]),
        maxAttempts: Int = 1
    ) -> ProcessWorld {
        var world = ProcessWorld(disk, maxAttempts: maxAttempts)
        world.enqueue(.download())
        world.handle(.started(task))
        return world
    }

    @Test func everyOrderOfEveryPartOfTheEventsEndsOnce() {
        var problems: [String] = []
        var count = 0
        for part in subsets(Array(Self.events.indices)) where part.count <= 6 {
            for order in permutations(part) {
                count += 1
                var world = Self.begun()
                for index in order { world.handle(Self.events[index]) }
                // A transfer that nothing has ended goes on, until its task ends.
                if Set(part).isDisjoint(with: 1...4) {
                    if !world.ends.isEmpty { problems.append("\(order): ended by itself") }
                    world.handle(.completed(Self.task, nil, failure: TransferFailure(.timedOut, "late")))
                }
                world.finish()
                let awaits = part.contains(6) && part.contains(7)
                if let problem = Self.problem(world, awaits: awaits) { problems.append("\(order): \(problem)") }
            }
        }
        #expect(problems.isEmpty, "\(problems.count) of \(count), such as \(problems.prefix(3))")
        #expect(count > 25_000)
    }

    @Test func closureThatReturnsBetweenAnyTwoEventsChangesNothing() {
        var problems: [String] = []
        for order in permutations(Array(Self.events.indices.prefix(6))) {
            for moment in order.indices {
                var world = Self.begun()
                for (position, index) in order.enumerated() {
                    world.handle(Self.events[index])
                    if position == moment { while !world.undelivered.isEmpty { world.deliverNext() } }
                }
                world.finish()
                if let problem = Self.problem(world) { problems.append("\(order), \(moment): \(problem)") }
            }
        }
        #expect(problems.isEmpty, "\(problems.count), such as \(problems.prefix(3))")
    }

    /// The ways in which a session may continue after a relaunch.
    private static let continuations: [[TransferEvent]] = [
        [],
        [.downloaded(task, .status(200), file), .completed(task, .status(200), failure: nil)],
        [.completed(task, .status(200), failure: nil)],
        [.completed(task, nil, failure: TransferFailure(.timedOut, "late"))],
        [.listed([ListedTask(number: 1, task: task)], isFinal: false), .downloaded(task, .status(200), file)],
        [.listed([], isFinal: true), .downloaded(task, .status(200), file)],
    ]

    @Test func killAfterEachChangeOfTheDiskLosesNoEnd() {
        var problems: [String] = []
        var (kills, again) = (0, 0)
        for order in permutations(Array(Self.events.indices.prefix(6))) {
            var world = Self.begun()
            for index in order { world.handle(Self.events[index]) }
            world.finish()
            for (disk, delivered) in world.storage.log {
                for continuation in Self.continuations {
                    kills += 1
                    var next = ProcessWorld(disk)
                    for event in continuation { next.handle(event) }
                    next.finish()
                    if disk.records.isEmpty {
                        // Forgotten only after the app's closure has returned.
                        if delivered != 1 || !next.ends.isEmpty { problems.append("\(order): forgotten too soon") }
                    } else {
                        again += delivered
                        if let problem = Self.problem(next) { problems.append("\(order): \(problem)") }
                    }
                }
            }
        }
        #expect(problems.isEmpty, "\(problems.count) of \(kills), such as \(problems.prefix(3))")
        // The closure returns before the record is removed, so no state of the disk lies between.
        #expect(again == 0)
    }

    @Test func everyFailureOfTheDiskEndsTheTransferOnceAndShowsNoPartOfTheFile() {
        var problems: [String] = []
        for failing in subsets(Array(1...7)) {
            for order in permutations(Array(Self.events.indices.prefix(5))) {
                var world = Self.begun(FakeDisk(files: [oldFile: "old"], failing: Set(failing)))
                for index in order { world.handle(Self.events[index]) }
                world.finish()
                let endings = world.ends.map(\.ending)
                let isNew = world.storage.disk.files[oldFile] == "new"
                let isFinished = if case .finished = endings.first { true } else { false }
                if endings.count != 1 { problems.append("\(failing) \(order): \(endings.count) ends") }
                if isNew != isFinished { problems.append("\(failing) \(order): the file doesn't fit the end") }
            }
        }
        #expect(problems.isEmpty, "\(problems.count), such as \(problems.prefix(3))")
    }

    @Test(arguments: [
        TransferResponse.status(404), .status(301), .status(500), .status(0),
        .status(200, to: "https://b.example.com/f"),
        .status(200, to: "http://a.example.com/f"),
    ])
    func noOrderShowsTheFileOfAnUnsuccessfulResponse(response: TransferResponse) {
        let events: [TransferEvent] = [
            .downloaded(Self.task, response, Self.file), .completed(Self.task, response, failure: nil),
            .progressed(Self.task), .cancelled(Self.task.id),
        ]
        for order in permutations(Array(events.indices)) {
            var world = Self.begun()
            for index in order { world.handle(events[index]) }
            world.finish()
            #expect(world.storage.disk.files[oldFile] == "old")
            #expect(world.ends.count == 1)
        }
    }

    @Test(arguments: [
        ("https://a.example.com/f", "https://a.example.com/g", false, false),
        ("https://a.example.com/f", "https://b.example.com/f", true, false),
        ("https://a.example.com/f", "http://a.example.com/f", true, true),
        ("https://a.example.com/f", "file:///videos/film.mp4", true, true),
        ("https://a.example.com/f", nil, true, true),
        ("http://a.example.com/f", "http://a.example.com/f", false, false),
        ("http://a.example.com/f", "https://a.example.com/f", true, false),
        (nil, "https://a.example.com/f", true, false),
        (nil, nil, true, true), (nil, "http://a.example.com/f", true, true),
    ])
    func responseFromElsewhereOrWithoutTLSIsAFailure(
        from: String?,
        to: String?,
        isElsewhere: Bool,
        isInsecure: Bool
    ) {
        let response = TransferResponse(
            status: 200,
            from: from.flatMap { URL(string: $0) },
            to: to.flatMap { URL(string: $0) }
        ) { _ in nil }
        #expect(response.isElsewhere == isElsewhere && response.isInsecure == isInsecure)
        let allowed = response.failure(allowsOtherOrigins: true)?.code
        #expect(allowed == (isInsecure ? HTTPErrorCode.insecureRedirect.rawValue : nil))
        #expect((response.failure(allowsOtherOrigins: false) != nil) == (isElsewhere || isInsecure))
    }

    @Test func eventsOfUnknownTasksAreReportedAndChangeNothing() {
        let foreign = TransferTask(id: "x", attempt: 1)
        let events: [TransferEvent] = [
            .progressed(foreign), .downloaded(foreign, .status(200), Self.file), .cancelled(foreign.id),
            .completed(foreign, .status(200), failure: nil), .delivered(foreign.id), .notRenewed(foreign),
            .listed([ListedTask(number: 3, task: foreign), ListedTask(number: 4, task: nil)], isFinal: false),
        ]
        for order in permutations(Array(events.indices)) {
            var world = ProcessWorld(FakeDisk(files: [oldFile: "old"]))
            for index in order { world.handle(events[index]) }
            world.finish()
            #expect(world.ends.isEmpty)
            #expect(world.cancelledNumbers == [3, 4])
            #expect(world.reports.count == 3)
            #expect(world.storage.disk == FakeDisk(files: [oldFile: "old"]))
        }
    }
}
