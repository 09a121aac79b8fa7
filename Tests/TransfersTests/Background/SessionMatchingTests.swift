import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

@testable import InterceptorsTransfers

/// A session that outlives the process, as the system's does.
private final class LastingSession: BackgroundSession {
    let started = Mutex<[(task: TransferTask, request: HTTPRequest)]>([])
    let cancelled = Mutex<[TransferTask]>([])
    let cancelledNumbers = Mutex<[Int]>([])
    let resumedNumbers = Mutex<[Int]>([])
    /// Counts the listings.
    let lists = Tally()
    let listed = Mutex<[ListedTask]>([])

    func start(_ task: TransferTask, _ request: HTTPRequest, upload: URL?) throws {
        started.withLock { $0.append((task, request)) }
    }

    func cancel(_ task: TransferTask) { cancelled.withLock { $0.append(task) } }
    func cancel(number: Int) { cancelledNumbers.withLock { $0.append(number) } }
    func resume(number: Int) { resumedNumbers.withLock { $0.append(number) } }
    func list() async -> [ListedTask] {
        lists.count()
        return listed.withLock { $0 }
    }
    func close() {}
}

@Suite(.againstHanging) struct SessionMatchingTests {
    private let folder: TemporaryFolder
    private let ends = EndList()
    private let clock = ManualClock()
    private let session = LastingSession()

    init() throws { folder = try TemporaryFolder() }

    private var file: URL { folder.file("film.mp4") }

    private func core() throws -> TransferCore {
        let settings = TransferCore.Settings(
            preparation: RequestPreparation(Client(baseURL: apiURL, interceptors: [], transport: StubTransport())),
            random: .system,
            renewing: nil,
            report: { _ in },
            onEnd: { [ends] in ends.add($0) }
        )
        return try TransferCore(settings, folder: TransferFolder(url: folder.file("records")), maxAttempts: 1)
    }

    /// A launch that enqueues a download, and another one.
    private func relaunched() async throws -> (TransferCore, TransferTask) {
        let first = try core()
        first.open { session }
        let transfer = try await first.enqueue(request(), to: file, note: "", allowsOtherOrigins: false)
        first.close()
        let next = try core()
        next.open { session }
        return (next, TransferTask(id: transfer.id, attempt: 1))
    }

    /// Compares records and tasks; `between` runs while the clock waits.
    private func match(_ core: TransferCore, between: () throws -> Void = {}) async throws {
        let matching = Task { [clock] in await core.match(clock) }
        await clock.sleepers(1)
        try between()
        clock.advance(by: .seconds(60))
        await matching.value
    }

    private func received() throws -> URL { try folder.write(Data("film".utf8), to: "received") }

    @Test func listedTransferGoesOnAndEndsInTheNextLaunch() async throws {
        let (core, task) = try await relaunched()
        session.listed.withLock { $0 = [ListedTask(number: 1, task: task)] }
        try await match(core)
        #expect(ends.ends.isEmpty && core.inProgress.count == 1)
        core.receive(.downloaded(task, .status(200), try received()))
        core.receive(.completed(task, .status(200), failure: nil, content: Data()))
        _ = try await ends.reached(1)[0].result.get()
        #expect(try Data(contentsOf: file) == Data("film".utf8))
    }

    @Test func transferWithoutATaskIsLostOnlyAfterAWhile() async throws {
        let (core, _) = try await relaunched()
        try await match(core) { #expect(core.inProgress.count == 1) }
        let failure = await ends.reached(1)[0].result.failure
        #expect((failure as? TransferError)?.code == .transferLost)
    }

    @Test func endThatIsReportedBeforeThenCounts() async throws {
        let (core, task) = try await relaunched()
        try await match(core) {
            core.receive(.downloaded(task, .status(200), try received()))
            core.receive(.completed(task, .status(200), failure: nil, content: Data()))
        }
        _ = try await ends.reached(1)[0].result.get()
        #expect(core.inProgress.isEmpty && ends.ends.count == 1)
    }

    @Test func taskWithoutARecordIsCancelled() async throws {
        let core = try core()
        core.open { session }
        let foreign = TransferTask(text: "x 1")
        session.listed.withLock { $0 = [ListedTask(number: 7, task: foreign), ListedTask(number: 8, task: nil)] }
        try await match(core)
        #expect(session.cancelledNumbers.withLock { $0 } == [7, 8, 7, 8])
    }

    @Test func eventsOfARelaunchAreAwaitedUntilTheirEndsAreDelivered() async throws {
        let (core, task) = try await relaunched()
        let done = Tally()
        let waiting = Task {
            await core.eventsDelivered(isLast: false)
            done.count()
        }
        core.receive(.downloaded(task, .status(200), try received()))
        core.receive(.completed(task, .status(200), failure: nil, content: Data()))
        _ = await ends.reached(1)
        #expect(done.value == 0)
        core.receive(.eventsFinished)
        await waiting.value
        let cancelled = Task { await core.eventsDelivered(isLast: false) }
        cancelled.cancel()
        await cancelled.value
    }

    @Test func endThatTheSessionReportsWhileItIsMadeIsDeliveredOnce() async throws {
        let first = try core()
        first.open { session }
        let transfer = try await first.enqueue(request(), to: file, note: "", allowsOtherOrigins: false)
        first.close()
        let task = TransferTask(id: transfer.id, attempt: 1)
        let (next, content) = (try core(), try received())
        next.open {
            next.receive(.downloaded(task, .status(200), content))
            next.receive(.completed(task, .status(200), failure: nil, content: Data()))
            return session
        }
        _ = try await ends.reached(1)[0].result.get()
        await next.eventsDelivered(isLast: true)
        #expect(ends.ends.count == 1 && next.inProgress.isEmpty)
    }

    @Test func suspendedTaskIsResumedAtTheLaunch() async throws {
        let (core, task) = try await relaunched()
        session.listed.withLock { $0 = [ListedTask(number: 5, task: task, state: .suspended)] }
        try await match(core) {
            #expect(session.resumedNumbers.withLock { $0 } == [5])
            session.listed.withLock { $0 = [ListedTask(number: 5, task: task)] }
        }
        #expect(session.resumedNumbers.withLock { $0 } == [5] && session.cancelledNumbers.withLock(\.isEmpty))
    }

    @Test func endOfAnEarlierWakesEventsDoesNotEndTheNextWake() async throws {
        let (core, task) = try await relaunched()
        core.receive(.eventsFinished)
        let done = Tally()
        let waiting = Task {
            await core.eventsDelivered(isLast: false)
            done.count()
        }
        await session.lists.reached(1)
        core.receive(.downloaded(task, .status(200), try received()))
        #expect(done.value == 0)
        core.receive(.completed(task, .status(200), failure: nil, content: Data()))
        core.receive(.eventsFinished)
        await waiting.value
        #expect(ends.ends.count == 1)
    }

    @Test func endOfEventsThatCameBeforeTheWaitCountsIfEveryTransferHasItsTask() async throws {
        let (core, task) = try await relaunched()
        session.listed.withLock { $0 = [ListedTask(number: 1, task: task)] }
        core.receive(.eventsFinished)
        await core.eventsDelivered(isLast: false)
        #expect(ends.ends.isEmpty && core.inProgress.count == 1)
    }

    @Test func preparedRequestAndItsAttemptReachTheSession() async throws {
        let (_, task) = try await relaunched()
        let started = session.started.withLock { $0 }
        #expect(started.map(\.task) == [task] && started[0].request.url == filmURL)
        #expect(started[0].request.headers[.acceptEncoding] == "identity")
    }

    @Test(arguments: ["", "x", "x ", " 1", "x y", "x 1 2", "x 9223372036854775808"])
    func textsOfForeignTasksAreRecognized(text: String) {
        #expect(TransferTask(text: text) == nil)
        let task = TransferTask(id: "x", attempt: 3)
        #expect(TransferTask(text: task.text) == task && TransferTask(text: nil) == nil)
    }
}
