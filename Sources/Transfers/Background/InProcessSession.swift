internal import Foundation
internal import Interceptors
internal import Synchronization

/// Runs transfers as tasks of this process, over a transport.
///
/// As the system does, it follows redirects. A redirect to another origin loses the credentials.
final class InProcessSession: BackgroundSession {
    private struct Job: Sendable {
        let task: TransferTask
        let request: HTTPRequest
        let isUpload: Bool
    }

    private struct State {
        var waiting: [Job] = []
        var running: [TransferTask: Task<Void, Never>] = [:]
        var isClosed = false
    }

    private let chain: InterceptorChain
    private let limit: Int
    private let folder: TransferFolder
    private let receive: SessionReceiver
    private let state = Mutex(State())

    /// - Parameters:
    ///   - transport: sends the requests.
    ///   - redaction: decides which fields a redirect to another origin loses.
    ///   - limit: how many transfers run at a time.
    ///   - folder: the folder for content that is being received.
    ///   - receive: gets the reports.
    init(
        over transport: any Transport,
        redaction: Redaction,
        limit: Int,
        folder: TransferFolder,
        receive: @escaping SessionReceiver
    ) {
        chain = InterceptorChain([.followRedirects(redaction: redaction)], transport: transport)
        self.limit = limit
        self.folder = folder
        self.receive = receive
    }

    func start(_ task: TransferTask, _ request: HTTPRequest, upload: URL?) throws {
        try request.validate()
        state.withLock { $0.waiting.append(Job(task: task, request: request, isUpload: upload != nil)) }
        runNext()
    }

    func cancel(_ task: TransferTask) {
        let running = state.withLock { state in
            state.waiting.removeAll { $0.task == task }
            return state.running[task]
        }
        running?.cancel()
    }

    // A process starts without tasks, so none has a number.
    func cancel(number: Int) {}
    func resume(number: Int) {}

    func list() async -> [ListedTask] { [] }

    func close() {
        let running = state.withLock { state in
            (state.isClosed, state.waiting) = (true, [])
            return Array(state.running.values)
        }
        for task in running { task.cancel() }
    }

    /// Starts the jobs for which there is room.
    private func runNext() {
        state.withLock { state in
            while !state.isClosed, state.running.count < limit, !state.waiting.isEmpty {
                let job = state.waiting.removeFirst()
                // An unstructured task, because a transfer outlives the call that enqueues it.
                state.running[job.task] = Task {
                    await run(job)
                    self.state.withLock { _ = $0.running.removeValue(forKey: job.task) }
                    runNext()
                }
            }
        }
    }

    @concurrent
    private func run(_ job: Job) async {
        do {
            let report = { @Sendable [receive] in receive(.progressed(job.task, $0)) }
            var request = job.request
            request.context.responseBody = .streamed
            request.context.uploadProgress = job.isUpload ? report : nil
            request.context.downloadProgress = job.isUpload ? nil : report
            let response = try await chain.send(request)
            let kept = Self.kept(response, of: job)
            var content = Data()
            if job.isUpload {
                content = try await Self.beginning(of: response.body)
            } else if kept.status / 100 == 2 {
                let file = folder.incoming(of: job.task.id)
                try await response.body.write(to: file, upTo: .max)
                receive(.downloaded(job.task, kept, file))
                try? FileManager.default.removeItem(at: file)
            } else {
                response.body.discard()
            }
            receive(.completed(job.task, kept, failure: nil, content: content))
        } catch {
            receive(.completed(job.task, nil, failure: Self.failure(error), content: Data()))
        }
    }

    private static func beginning(of body: HTTPBody) async throws -> Data {
        var content = Data()
        for try await chunk in body {
            content.append(chunk.prefix(uploadResponseLimit - content.count))
            if content.count == uploadResponseLimit {
                body.discard()
                break
            }
        }
        return content
    }

    private static func kept(_ response: HTTPResponse, of job: Job) -> TransferResponse {
        TransferResponse(status: response.status.code, from: job.request.url, to: response.url ?? job.request.url) {
            response.headers[$0]
        }
    }

    private static func failure(_ error: any Error) -> TransferFailure {
        if error is CancellationError { return .lost }
        let message = "The transfer failed with an error of the type \(type(of: error))."
        return TransferFailure(error, otherwise: .transportFailed, message)
    }
}
