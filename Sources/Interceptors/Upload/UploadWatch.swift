internal import Foundation
internal import Synchronization
internal import Transport

/// What a server has said about an upload before the response, and how far the request came.
struct UploadReports: Sendable {
    var naming: UploadNaming
    var limits = UploadLimits()
    /// The greatest offset that the server has named.
    var offset: Int64?
    /// The bytes that the transport has taken from the content of the request; `nil` if it doesn't say so.
    var sent: Int64?
}

/// Watches one request of an upload: its interim responses and its progress. The transport may call from any thread.
final class UploadWatch: Sendable {
    private let state: Mutex<UploadReports>
    private let save: (@Sendable (URL) -> Void)?

    init(_ naming: UploadNaming, save: (@Sendable (URL) -> Void)?) {
        state = Mutex(UploadReports(naming: naming))
        self.save = save
    }

    var reports: UploadReports { state.withLock { $0 } }

    /// Adds the closures to a request.
    ///
    /// - Parameters:
    ///   - start: the offset of its content.
    ///   - progress: gets the progress of the whole upload.
    func observe(
        _ request: inout HTTPRequest,
        from start: Int64,
        _ kind: UploadProtocol,
        _ progress: UploadProgress?
    ) {
        request.context.uploadProgress = { report in progress?.report(start + report.completed) }
        request.context.takenBytes = { [self] count in state.withLock { $0.sent = max($0.sent ?? 0, count) } }
        guard kind == .draft, request.method != .head else { return }
        let (url, next) = (request.url, request.context.interim)
        request.context.interim = { [self] head in
            take(head, to: url)
            next?(head)
        }
    }

    /// Takes over an interim response of the draft. One for another version of the draft doesn't count.
    private func take(_ head: InterimResponse, to url: URL) {
        guard head.status == 104 else { return }
        let answer = UploadAnswer(head.status, head.headerFields, .draft)
        guard answer.hasVersion else { return }
        state.withLock { reports in
            reports.limits.take(answer.limits)
            if let found = answer.offset { reports.offset = max(reports.offset ?? 0, found) }
        }
        take(head.headerFields[values: .location], from: head.url ?? url, url)
    }

    /// Takes over the `Location` of a response or an interim response.
    ///
    /// - Parameters:
    ///   - base: the URL that was answered.
    ///   - target: the URL of the request.
    func take(_ locations: [String], from base: URL, _ target: URL) {
        let named = state.withLock { reports -> URL? in
            let before = reports.naming.url
            reports.naming.take(locations, from: base, target: target)
            return before == nil ? reports.naming.url : nil
        }
        if let named { save?(named) }
    }
}

/// Reports the progress of an upload across its requests. It never goes back.
final class UploadProgress: Sendable {
    private let total: Int64
    private let handler: @Sendable (TransferProgress) -> Void
    private let most = Mutex<Int64>(-1)

    init(total: Int64, _ handler: @escaping @Sendable (TransferProgress) -> Void) {
        self.total = total
        self.handler = handler
    }

    /// Reports a number of bytes of the whole, if it is greater than those before.
    func report(_ completed: Int64) {
        let completed = min(completed, total)
        let isNew = most.withLock { most in
            defer { most = max(most, completed) }
            return completed > most
        }
        if isNew { handler(TransferProgress(completed: completed, total: total)) }
    }
}
