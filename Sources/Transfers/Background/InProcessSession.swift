internal import Foundation
internal import Interceptors
internal import Synchronization

/// Runs transfers as tasks of this process, over a transport.
///
/// As the system does, it follows redirects. A redirect to another origin loses the credentials.
final class InProcessSession: BackgroundSession {
    private let chain: InterceptorChain
    private let folder: TransferFolder
    private let receive: SessionReceiver
    /// `nil` after the end.
    private let running = Mutex<[TransferTask: Task<Void, Never>]?>([:])

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
        chain = InterceptorChain(
            [.limitConcurrency(limit), .followRedirects(redaction: redaction)],
            transport: transport
        )
        self.folder = folder
        self.receive = receive
    }

    func start(_ task: TransferTask, _ request: HTTPRequest, upload: URL?) throws {
        try request.validate()
        running.withLock { running in
            // An unstructured task, because a transfer outlives the call that enqueues it.
            running?[task] = Task {
                await run(task, request, isUpload: upload != nil)
                self.running.withLock { _ = $0?.removeValue(forKey: task) }
            }
        }
    }

    func cancel(_ task: TransferTask) { running.withLock { $0?[task] }?.cancel() }

    // A process starts without tasks, so none has a number.
    func cancel(number: Int) {}
    func resume(number: Int) {}

    func list() async -> [ListedTask] { [] }

    func close() {
        for task in (running.withLock { $0.take() } ?? [:]).values { task.cancel() }
    }

    @concurrent
    private func run(_ task: TransferTask, _ request: HTTPRequest, isUpload: Bool) async {
        do {
            let report = { @Sendable [receive] in receive(.progressed(task, $0)) }
            var sent = request
            sent.context.responseBody = .streamed
            sent.context.uploadProgress = isUpload ? report : nil
            sent.context.downloadProgress = isUpload ? nil : report
            let response = try await chain.send(sent)
            let kept = Self.kept(response, to: request)
            var content = Data()
            if isUpload {
                content = try await Self.beginning(of: response.body)
            } else if kept.status / 100 == 2 {
                let file = folder.incoming(of: task.id)
                try await response.body.write(to: file, upTo: .max)
                receive(.downloaded(task, kept, file))
                try? FileManager.default.removeItem(at: file)
            } else {
                response.body.discard()
            }
            receive(.completed(task, kept, failure: nil, content: content))
        } catch {
            receive(.completed(task, nil, failure: Self.failure(error), content: Data()))
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

    private static func kept(_ response: HTTPResponse, to request: HTTPRequest) -> TransferResponse {
        TransferResponse(status: response.status.code, from: request.url, to: response.url ?? request.url) {
            response.headerFields[$0]
        }
    }

    private static func failure(_ error: any Error) -> TransferFailure {
        if error is CancellationError { return .lost }
        let message = "The transfer failed with an error of the type \(type(of: error))."
        return TransferFailure(error, otherwise: .transportFailed, message)
    }
}
