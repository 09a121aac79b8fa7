internal import Foundation
internal import Interceptors
internal import Synchronization

/// Acts for a ``TransferMachine``.
///
/// The state is changed under the lock, and so are the records and files: the order on the disk is the machine's. A file that the
/// system hands over exists only until the delegate's method returns. Everything else happens outside the lock.
final class TransferCore: Sendable {
    private struct State {
        var machine: TransferMachine<TransferFolder>
        var isClosed = false
        /// The contents of the responses to uploads.
        var contents: [BackgroundTransfer.ID: Data] = [:]
        /// The hashes of the tokens of the last attempts that this launch started.
        var tokens: [BackgroundTransfer.ID: Int] = [:]
        var observers: [BackgroundTransfer.ID: [Int: AsyncStream<TransferProgress>.Continuation]] = [:]
        var waiters: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastNumber = 0

        mutating func number() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    struct Settings: Sendable {
        let preparation: RequestPreparation
        let random: RandomSource
        let renewing: (@Sendable (BackgroundTransfer.End) async throws -> HTTPRequest?)?
        let report: @Sendable (any Error) -> Void
        let onEnd: @Sendable (BackgroundTransfer.End) async -> Void
    }

    let settings: Settings
    private let state: Mutex<State>
    /// The ends to deliver, one after another.
    private let ends = AsyncStream.makeStream(of: BackgroundTransfer.End.self)
    // Made after this object, to which it reports.
    private let session = Mutex<(any BackgroundSession)?>(nil)

    init(_ settings: Settings, folder: TransferFolder, maxAttempts: Int) throws {
        self.settings = settings
        let records = try folder.open { settings.report($0.error) }
        let maxAttempts = settings.renewing == nil ? 1 : max(1, maxAttempts)
        state = Mutex(State(machine: TransferMachine(records, in: folder, maxAttempts: maxAttempts)))
    }

    /// Begins to receive and to deliver. A session may report as soon as it is made, when the machine has its records.
    ///
    /// - Parameter make: makes the session. A report that needs the session waits until it is made.
    func open(_ make: () -> any BackgroundSession) {
        // An unstructured task, because the session doesn't wait for the app's closure.
        Task { await deliverAll() }
        let launched = effects(of: .launched)
        session.withLock { $0 = make() }
        for effect in launched { perform(effect) }
    }

    /// Ends everything without a report, as the end of the process would.
    func close() {
        let (observers, waiters) = state.withLock { state in
            state.isClosed = true
            defer { (state.observers, state.waiters) = ([:], [:]) }
            return (state.observers.values.flatMap(\.values), Array(state.waiters.values))
        }
        ends.continuation.finish()
        current?.close()
        for observer in observers { observer.finish() }
        for waiter in waiters { waiter.finish() }
    }

    private var current: (any BackgroundSession)? { session.withLock { $0 } }

    /// The tasks that the session knows.
    func list() async -> [ListedTask] { await current?.list() ?? [] }

    var inProgress: [BackgroundTransfer] { state.withLock { $0.machine.records.map(\.transfer) } }

    func handle(_ event: TransferEvent) {
        for effect in effects(of: event) { perform(effect) }
    }

    private func effects(of event: TransferEvent) -> [TransferEffect] {
        state.withLock { $0.isClosed ? [] : $0.machine.handle(event) }
    }

    private func perform(_ effect: TransferEffect) {
        switch effect {
        case .cancel(let task): current?.cancel(task)
        case .cancelNumber(let number): current?.cancel(number: number)
        case .resumeNumber(let number): current?.resume(number: number)
        case .compare(let number):
            // An unstructured task, because the caller waits for more than the list.
            Task { handle(.compared(number, await list())) }
        case .renew(let record, let failure): renew(record, failure)
        case .deliver(let record, let ending): deliver(record, ending)
        case .resume(let numbers):
            for waiter in state.withLock({ state in numbers.map { state.waiters.removeValue(forKey: $0) } }) {
                waiter?.finish()
            }
        case .report(let failure): settings.report(failure.error)
        }
    }
}

// Reports of the session.
extension TransferCore {
    func receive(_ event: TransferEvent) {
        switch event {
        case .progressed(let task, let progress?):
            handle(event)
            let observers = state.withLock { state in
                state.machine.isCurrent(task) ? state.observers[task.id].map { Array($0.values) } ?? [] : []
            }
            for observer in observers { observer.yield(progress) }
        case .downloaded(let task, let response, let file):
            let near = bring(file, of: task, response)
            handle(.downloaded(task, response, near ?? file))
            // Unless the transfer has ended meanwhile, it has been renamed.
            if let near { try? FileName.remove(near.path) }
        case .completed(let task, _, _, let content):
            // Empty content replaces that of an earlier attempt too.
            state.withLock { state in
                if state.machine.isCurrent(task) { state.contents[task.id] = content }
            }
            handle(event)
        default: handle(event)
        }
    }

    /// Moves a received file beside its destination, unless it will be dropped: outside the lock, because another volume gets a
    /// copy, for which calls of the app would wait.
    private func bring(_ file: URL, of task: TransferTask, _ response: TransferResponse) -> URL? {
        let (folder, record) = state.withLock { ($0.machine.storage, $0.machine.record(of: task)) }
        guard let record, response.failure(allowsOtherOrigins: record.allowsOtherOrigins) == nil else { return nil }
        return folder.bring(file, for: record)
    }
}

// Ends.
extension TransferCore {
    private func deliver(_ record: TransferRecord, _ ending: TransferEnding) {
        let id = record.id
        let (observers, content) = state.withLock { state in
            state.tokens[id] = nil
            return (state.observers.removeValue(forKey: id) ?? [:], state.contents.removeValue(forKey: id) ?? Data())
        }
        for observer in observers.values { observer.finish() }
        let result = ending.result(content: content)
        ends.continuation.yield((record.transfer, result))
    }

    private func deliverAll() async {
        for await end in ends.stream where !state.withLock(\.isClosed) {
            await settings.onEnd(end)
            handle(.delivered(end.transfer.id))
        }
    }

    /// The progress of a transfer, which ends with it.
    func progress(of id: BackgroundTransfer.ID) -> AsyncStream<TransferProgress> {
        let (stream, observer) = AsyncStream.makeStream(of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state -> Int? in
            guard !state.isClosed, state.machine.records.contains(where: { $0.id == id && !$0.phase.isEnd })
            else { return nil }
            let number = state.number()
            state.observers[id, default: [:]][number] = observer
            return number
        }
        guard let number else {
            observer.finish()
            return stream
        }
        observer.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.observers[id]?.removeValue(forKey: number) }
        }
        return stream
    }

    /// Waits until the events of a relaunch are delivered, or the task is cancelled.
    func eventsDelivered(isLast: Bool) async {
        let (stream, waiter) = AsyncStream.makeStream(of: Void.self)
        let number = state.withLock { state in
            let number = state.number()
            if state.isClosed { waiter.finish() } else { state.waiters[number] = waiter }
            return number
        }
        handle(.awaited(number))
        if isLast { handle(.eventsFinished) }
        for await _ in stream {}
        state.withLock { _ = $0.waiters.removeValue(forKey: number) }
        handle(.abandoned(number))
    }
}

// Beginnings.
extension TransferCore {
    /// Prepares a request, writes its record, and gives it to the session.
    ///
    /// - Parameter destination: the file that a download writes; `nil` for an upload.
    func enqueue(
        _ request: HTTPRequest,
        to destination: URL?,
        note: String,
        allowsOtherOrigins: Bool
    ) async throws -> BackgroundTransfer {
        if let destination { try Self.check(destination, request) }
        let prepared = try await settings.preparation.prepare(request)
        let id = (0..<2).map { _ in String(settings.random.next(), radix: 36) }.joined(separator: "-")
        let record = TransferRecord(
            id: id,
            destination: destination.map { StoredPath($0) },
            note: note,
            allowsOtherOrigins: allowsOtherOrigins
        )
        return try await begin(record, prepared)
    }

    @concurrent
    private func begin(_ record: TransferRecord, _ request: HTTPRequest) async throws -> BackgroundTransfer {
        let (request, upload) = try await content(of: request, for: record)
        let effects: [TransferEffect]
        do {
            effects = try state.withLock { state in
                guard !state.isClosed else { throw CancellationError() }
                if let file = record.destination, state.machine.isDownloading(to: file) {
                    let message = "Another transfer downloads to \(file.url.path). Cancel it, or wait for its end."
                    throw TransferError(.downloadInProgress, message, request: request)
                }
                try state.machine.storage.write(record)
                return state.machine.handle(.enqueued(record))
            }
        } catch {
            try? state.withLock { try $0.machine.storage.remove(record) }
            throw error
        }
        for effect in effects { perform(effect) }
        do {
            try start(record.task, request, upload)
        } catch {
            state.withLock { _ = $0.tokens.removeValue(forKey: record.id) }
            handle(.notStarted(record.task))
            throw error
        }
        return record.transfer
    }

    /// Gives an attempt to the session.
    private func start(_ task: TransferTask, _ request: HTTPRequest, _ upload: URL?) throws {
        state.withLock { $0.tokens[task.id] = request.tokenHash }
        try current?.start(task, request, upload: upload)
        handle(.started(task))
    }

    private func renew(_ record: TransferRecord, _ failure: TransferFailure) {
        guard let renewing = settings.renewing else { return handle(.notRenewed(record.task)) }
        // An unstructured task, because the session doesn't wait for the app's closure.
        Task {
            do {
                let request = try await renewing((record.transfer(at: record.attempt - 1), .failure(failure.error)))
                guard let request else { return handle(.notRenewed(record.task)) }
                let rejection = failure.rejection.map { response in
                    let token = state.withLock { $0.tokens[record.id] }
                    return RequestPreparation.Rejection(response: response, token: token)
                }
                let prepared = try await settings.preparation.prepare(request, after: rejection)
                try await start(record, prepared)
            } catch {
                settings.report(error)
                handle(.notRenewed(record.task))
            }
        }
    }

    @concurrent
    private func start(_ record: TransferRecord, _ request: HTTPRequest) async throws {
        guard try isCurrent(record) else { return }
        let (request, upload) = try await content(of: request, for: record)
        guard try isCurrent(record) else { return }
        try start(record.task, request, upload)
    }

    /// Whether an attempt may start. If the transfer has been cancelled, removes its content, which may have been written since.
    private func isCurrent(_ record: TransferRecord) throws(SystemCallFailure) -> Bool {
        try state.withLock { state throws(SystemCallFailure) in
            // After a close, the files belong to the next launch.
            if state.isClosed { return false }
            if state.machine.isCurrent(record.task) { return true }
            try state.machine.storage.removeUpload(of: record.id)
            return false
        }
    }

    /// The request with its content in a file, because a background session sends nothing else.
    private func content(
        of request: HTTPRequest,
        for record: TransferRecord
    ) async throws -> (HTTPRequest, upload: URL?) {
        guard !record.isDownload else {
            guard request.body.isEmpty else { throw unsupported("A background download can't send content.", request) }
            var request = request
            // Otherwise the size of the content is unknown, and an interrupted transfer can't go on where it stopped.
            if !request.headers.contains(.acceptEncoding) { request.headers[.acceptEncoding] = "identity" }
            return (request, nil)
        }
        guard request.method != .get, request.method != .head else {
            throw unsupported("An upload needs a method with content, such as PUT or POST.", request)
        }
        if let file = request.body.file { return (request, file) }
        let file = state.withLock { $0.machine.storage.upload(of: record.id) }
        var request = request
        // The app's content, which others mustn't read if the app has chosen a folder that they can read.
        try await request.body.write(to: file, upTo: .max, permissions: 0o600)
        request.body = try HTTPBody(file: file)
        return (request, file)
    }

    /// Throws if a download could never be written to its destination.
    private static func check(_ destination: URL, _ request: HTTPRequest) throws {
        _ = try HTTPBody.permissions(ofFileToReplace: destination)
        var isFolder: ObjCBool = false
        let folder = destination.deletingLastPathComponent().path
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw TransportError(.unwritableFile, "The folder \(folder) doesn't exist.", request: request)
        }
    }

    private func unsupported(_ message: String, _ request: HTTPRequest) -> TransferError {
        TransferError(.unsupported, message, request: request)
    }
}
