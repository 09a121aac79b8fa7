import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTransfers

/// Many transfers, a system that runs them, and kills at any moment, in an order that a seed decides.
@Suite(.againstHanging) struct TransferSimulationTests {
    @Test(arguments: 0..<400 as Range<UInt64>)
    func eachTransferEndsOnceWhateverHappens(seed: UInt64) {
        var simulation = Simulation(seed: seed)
        simulation.run(steps: 200)
        #expect(simulation.problems.isEmpty, "seed \(seed): \(simulation.problems)")
        #expect(simulation.launches > 1 && simulation.enqueued.count > 1)
    }

    @Test func simulationReachesEveryKindOfEnd() {
        var kinds: [String: Int] = [:]
        for seed in 0..<100 as Range<UInt64> {
            var simulation = Simulation(seed: seed)
            simulation.run(steps: 200)
            for ending in simulation.finalEndings.values {
                switch ending {
                case .finished: kinds["finished", default: 0] += 1
                case .cancelled: kinds["cancelled", default: 0] += 1
                case .failed(let failure): kinds[failure.code, default: 0] += 1
                }
            }
            kinds["renewed", default: 0] += simulation.renewedCount
            kinds["again", default: 0] += simulation.deliveredAgain
        }
        for kind in ["finished", "cancelled", "timedOut", "transferLost", "unacceptedStatus", "renewed", "again"] {
            #expect(kinds[kind, default: 0] > 10, "\(kinds)")
        }
    }
}

/// The system, the disk and the app of one test.
private struct Simulation {
    private var random: SeededGenerator
    private var world = ProcessWorld(FakeDisk(), maxAttempts: 3)
    /// The system's tasks that haven't ended.
    private var tasks: Set<TransferTask> = []
    private let file = receivedFile
    private(set) var enqueued: [String] = []
    private(set) var launches = 1
    private(set) var renewedCount = 0
    private(set) var deliveredAgain = 0
    private(set) var problems: [String] = []
    /// The last end that the app got for each transfer.
    private(set) var finalEndings: [String: TransferEnding] = [:]
    /// The transfers whose closure has returned.
    private var settled: Set<String> = []
    private var seenEnds = 0
    private var awaited = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func run(steps: Int) {
        for _ in 0..<steps {
            step()
            notice()
        }
        settle()
        check()
    }

    private mutating func step() {
        switch Int.random(in: 0..<20, using: &random) {
        case 0...3: enqueue()
        case 4...10: endTask()
        case 11: if let id = enqueued.randomElement(using: &random) { world.handle(.cancelled(id)) }
        case 12...15: deliver()
        case 16: renew()
        case 17: relaunch()
        case 18:
            awaited += 1
            world.handle(.awaited(awaited))
        default:
            world.handle(.eventsFinished)
            world.compare(listed)
        }
    }

    private static func path(_ id: String) -> StoredPath { StoredPath(URL(filePath: "/films/\(id)"), home: "/home") }

    private mutating func enqueue() {
        let id = "t\(enqueued.count)"
        let isUpload = Bool.random(using: &random)
        let record = isUpload ? TransferRecord.upload(id) : .download(id, to: Self.path(id))
        enqueued.append(id)
        world.enqueue(record)
        start(record.task)
    }

    /// The process may die before the system has the task, or before the machine learns that it has.
    private mutating func start(_ task: TransferTask) {
        let luck = Int.random(in: 0..<20, using: &random)
        if luck == 0 { return relaunch() }
        tasks.insert(task)
        if luck == 1 { return relaunch() }
        world.handle(.started(task))
        tasks.subtract(world.cancelled)
    }

    private mutating func endTask() {
        tasks.subtract(world.cancelled)
        guard let task = tasks.sorted(by: { $0.text < $1.text }).randomElement(using: &random) else { return }
        let isUpload = world.machine.records.first { $0.id == task.id }.map { !$0.isDownload } ?? false
        let status = random.oneOf([200, 200, 200, 204, 401, 404])
        switch Int.random(in: 0..<8, using: &random) {
        case 0: world.handle(.progressed(task))
        case 1:
            world.handle(.completed(task, nil, failure: TransferFailure(.timedOut, "late")))
            tasks.remove(task)
        // The system forgets a task without a report, as after a restore from a backup.
        case 2: tasks.remove(task)
        case 3:
            // The report arrives, and the process dies before the next one.
            if !isUpload { world.handle(.downloaded(task, .status(status), file)) }
            relaunch()
        default:
            if !isUpload { world.handle(.downloaded(task, .status(status), file)) }
            world.handle(.completed(task, .status(status), failure: nil))
            tasks.remove(task)
        }
    }

    private mutating func deliver() {
        guard let id = world.undelivered.first else { return }
        // The process may die within the closure, or just before the record is removed.
        if Int.random(in: 0..<6, using: &random) == 0 { return relaunch() }
        settled.insert(id)
        world.deliverNext()
    }

    private mutating func renew() {
        guard !world.renewals.isEmpty else { return }
        let task = world.renewals.removeFirst()
        if Int.random(in: 0..<4, using: &random) == 0 { return world.handle(.notRenewed(task)) }
        renewedCount += 1
        guard world.machine.isCurrent(task) else { return world.handle(.started(task)) }
        start(task)
    }

    private mutating func relaunch() {
        notice()
        launches += 1
        var disk = world.storage.disk
        disk.changes = 0
        world = ProcessWorld(disk, maxAttempts: 3)
        seenEnds = 0
        for id in world.undelivered where finalEndings[id] != nil { deliveredAgain += settled.contains(id) ? 0 : 1 }
        if Bool.random(using: &random) { list(isFinal: Bool.random(using: &random)) }
    }

    private var listed: [ListedTask] {
        tasks.sorted { $0.text < $1.text }.enumerated().map { ListedTask(number: $0.offset, task: $0.element) }
    }

    private mutating func list(isFinal: Bool) {
        let listed = listed
        world.handle(.listed(listed, isFinal: isFinal))
        tasks.subtract(world.cancelledNumbers.compactMap { listed[$0].task })
        world.cancelledNumbers = []
    }

    /// Reads the ends that the app got since the last look.
    private mutating func notice() {
        var ids: Set<String> = []
        for (id, _) in world.ends {
            if !ids.insert(id).inserted { problems.append("\(id) ended twice in a process") }
        }
        for (id, ending) in world.ends[seenEnds...] {
            if settled.contains(id) { problems.append("\(id) ended after its closure had returned") }
            if let earlier = finalEndings[id], earlier != ending { problems.append("\(id) ended differently") }
            finalEndings[id] = ending
            let isNew = world.storage.disk.files[Self.path(id)] == "new"
            if case .finished = ending, !isNew, world.machine.records.first(where: { $0.id == id })?.isDownload == true
            {
                problems.append("\(id) ended without its file")
            }
        }
        seenEnds = world.ends.count
        if world.wasResumedTooSoon { problems.append("resumed before the ends were delivered") }
        if world.resumed.count != Set(world.resumed).count { problems.append("resumed twice") }
    }

    /// Everything ends in a last launch: the system's tasks, the renewals and the closures.
    private mutating func settle() {
        relaunch()
        list(isFinal: true)
        for task in tasks.sorted(by: { $0.text < $1.text }) {
            world.handle(.completed(task, nil, failure: TransferFailure(.timedOut, "late")))
        }
        tasks = []
        notice()
        while !world.renewals.isEmpty || !world.undelivered.isEmpty {
            if !world.renewals.isEmpty { world.handle(.notRenewed(world.renewals.removeFirst())) }
            notice()
            if let id = world.undelivered.first {
                settled.insert(id)
                world.deliverNext()
            }
            // Lost tasks of renewals that an earlier process had begun.
            world.handle(.listed([], isFinal: true))
            notice()
        }
    }

    private mutating func check() {
        let disk = world.storage.disk
        if settled != Set(enqueued) { problems.append("no end for \(Set(enqueued).subtracting(settled))") }
        if !disk.records.isEmpty || !disk.hidden.isEmpty {
            problems.append("left: \(disk.records.keys) \(disk.hidden)")
        }
        for id in enqueued {
            let isFinished = if case .finished = finalEndings[id] { true } else { false }
            if disk.files[Self.path(id)] == "new", !isFinished { problems.append("\(id) shows a file without success") }
        }
    }
}
