internal import Foundation
internal import Interceptors
internal import InterceptorsSyntax
internal import Synchronization

/// The URL that a server gives an upload.
struct UploadNaming: Sendable {
    private(set) var url: URL?
    /// The first fault in what the server said. The upload can't be resumed after it, but it can succeed.
    private(set) var fault: UploadFault?

    init(_ url: URL? = nil) { self.url = url }

    /// Takes over the `Location` fields of a response or an interim response, if there are any.
    ///
    /// - Parameters:
    ///   - base: the URL of the request that was answered.
    ///   - target: the URL of the call. An upload over https never continues over http.
    mutating func take(_ locations: [String], from base: URL, target: URL) {
        guard !locations.isEmpty, fault == nil else { return }
        guard Set(locations).count == 1, !locations[0].isEmpty, let found = LocationField.url(locations[0], from: base),
            Origin(found) != nil
        else { return fault = .locationInvalid }
        let wasSecure = [target, base].contains { $0.scheme?.lowercased() == "https" }
        if wasSecure, found.scheme?.lowercased() != "https" { return fault = .insecureLocation }
        if let url, url.absoluteString != found.absoluteString { return fault = .locationChanged }
        url = found
    }
}

/// The server's reports on an upload before the response, and the part of the request that was sent.
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
    private let save: @Sendable (URL) -> Void

    /// - Parameters:
    ///   - naming: the URL of the upload, if the server has named it.
    ///   - save: called when the server names the upload.
    init(_ naming: UploadNaming, save: @escaping @Sendable (URL) -> Void) {
        state = Mutex(UploadReports(naming: naming))
        self.save = save
    }

    /// The shape of the request that makes the upload. Offsets count bytes as they are sent, and the upload decides itself when to send
    /// content again, because the server may have a part of it.
    var creationShape: CallShape {
        var shape = CallShape()
        (shape.mayCompress, shape.mayResend) = (false, false)
        // The upload then goes on by itself: the same request would make a second one.
        shape.hasTakenEffect = { [self] in state.withLock { $0.naming.url != nil || $0.naming.fault != nil } }
        // A name that the server has given it before no longer counts.
        shape.willResend = { [self] in state.withLock { $0 = UploadReports(naming: UploadNaming()) } }
        return shape
    }

    var reports: UploadReports { state.withLock { $0 } }

    /// Adds the closures to a request.
    ///
    /// - Parameters:
    ///   - start: the offset of its content.
    ///   - progress: gets the progress of the whole upload.
    func observe(_ request: inout HTTPRequest, from start: Int64, _ kind: UploadProtocol, _ progress: UploadProgress?) {
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
    private func take(_ head: HTTPResponse, to url: URL) {
        guard head.status == 104 else { return }
        let answer = UploadAnswer(head.status, head.headers, .draft)
        guard answer.hasVersion else { return }
        state.withLock { reports in
            reports.limits.take(answer.limits)
            if let found = answer.offset { reports.offset = max(reports.offset ?? 0, found) }
        }
        take(head.headers[values: .location], from: head.url ?? url, url)
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
        if let named { save(named) }
    }
}
