#if canImport(Darwin)
internal import Foundation
internal import Interceptors
internal import Synchronization

/// The system's background session.
///
/// A session lives until the process ends: the system doesn't allow a second one with the same identifier meanwhile.
final class SystemSession: BackgroundSession {
    private let session: URLSession
    private let transport: URLSessionTransport
    private let delegate: SystemSessionDelegate

    /// - Parameters:
    ///   - identifier: names the session across launches.
    ///   - isDiscretionary: whether the system waits for a good moment.
    ///   - timeLimit: the longest time of one attempt.
    ///   - transport: the client's transport, whose settings the session takes over.
    ///   - receive: gets the session's reports, those about earlier launches too.
    init(
        _ identifier: String,
        _ isDiscretionary: Bool,
        _ timeLimit: Duration,
        replacing transport: URLSessionTransport,
        receive: @escaping SessionReceiver
    ) {
        self.transport = transport
        let configuration = transport.configured(.background(withIdentifier: identifier))
        if isDiscretionary { configuration.isDiscretionary = true }
        configuration.sessionSendsLaunchEvents = true
        configuration.timeoutIntervalForResource = max(1, Double(timeLimit.components.seconds))
        delegate = SystemSessionDelegate(receive)
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    func start(_ task: TransferTask, _ request: HTTPRequest, upload: URL?) throws {
        try request.validate()
        let outgoing = try transport.urlRequest(for: request)
        let system = try delegate.isValid.withLock { isValid in
            guard isValid else {
                let message = "The system has ended the background session. A later launch of the app has another one."
                throw TransferError(.transferLost, message, request: request)
            }
            let system: URLSessionTask =
                if let upload {
                    session.uploadTask(with: outgoing, fromFile: upload.resolvingSymlinksInPath())
                } else {
                    session.downloadTask(with: outgoing)
                }
            system.taskDescription = task.text
            return system
        }
        system.resume()
    }

    func cancel(_ task: TransferTask) { forEach { if $0.taskDescription == task.text { $0.cancel() } } }

    func cancel(number: Int) { forEach { if $0.taskIdentifier == number { $0.cancel() } } }

    func resume(number: Int) {
        forEach { if $0.taskIdentifier == number, $0.state == .suspended { $0.resume() } }
    }

    private func forEach(_ change: @escaping @Sendable (URLSessionTask) -> Void) {
        session.getAllTasks { tasks in for system in tasks { change(system) } }
    }

    func list() async -> [ListedTask] {
        let tasks = await session.allTasks
        return delegate.isValid.withLock { _ in
            tasks.map {
                let task = TransferTask(text: $0.taskDescription)
                return ListedTask(number: $0.taskIdentifier, task: task, state: Self.state($0))
            }
        }
    }

    private static func state(_ system: URLSessionTask) -> ListedTask.State {
        switch system.state {
        case .running: .running
        case .suspended: .suspended
        case .canceling, .completed: .ending
        @unknown default: .running
        }
    }

    // Only the end of the process ends it.
    func close() {}
}

/// Turns the delegate's methods into reports. The system calls them one after another.
private final class SystemSessionDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
    private let receive: SessionReceiver
    /// The contents of the responses to uploads, by the tasks' numbers.
    private let contents = Mutex<[Int: Data]>([:])
    /// Whether the session makes tasks; otherwise it traps. Locked while a task gets its description, without which it looks like
    /// a foreign one.
    let isValid = Mutex(true)

    init(_ receive: @escaping SessionReceiver) { self.receive = receive }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        report(task, totalBytesSent, of: totalBytesExpectedToSend)
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        report(downloadTask, totalBytesWritten, of: totalBytesExpectedToWrite)
    }

    private func report(_ system: URLSessionTask, _ completed: Int64, of total: Int64) {
        guard let task = TransferTask(text: system.taskDescription) else { return }
        receive(.progressed(task, TransferProgress(completed: completed, total: total > 0 ? total : nil)))
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        contents.withLock { contents in
            let content = contents[dataTask.taskIdentifier] ?? Data()
            contents[dataTask.taskIdentifier] = content + data.prefix(uploadResponseLimit - content.count)
        }
    }

    // The file exists only until this method returns.
    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        guard let task = TransferTask(text: downloadTask.taskDescription), let response = Self.response(downloadTask)
        else { return }
        receive(.downloaded(task, response, location))
    }

    func urlSession(_ session: URLSession, task system: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let content = contents.withLock { $0.removeValue(forKey: system.taskIdentifier) } ?? Data()
        guard let task = TransferTask(text: system.taskDescription) else { return }
        let response = Self.response(system)
        let failure = error.map { SystemFailure.failure($0, hasHead: response != nil) }
        receive(.completed(task, response, failure: failure, content: content))
    }

    // The system has ended the session, so none of its tasks reports anything more.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        isValid.withLock { $0 = false }
        receive(.invalidated(error.map { SystemFailure.failure($0, hasHead: false) } ?? .lost))
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) { receive(.eventsFinished) }

    private static func response(_ system: URLSessionTask) -> TransferResponse? {
        guard let response = system.response as? HTTPURLResponse else { return nil }
        return TransferResponse(status: response.statusCode, from: system.originalRequest?.url, to: response.url) {
            response.value(forHTTPHeaderField: $0.rawName)
        }
    }
}
#endif
