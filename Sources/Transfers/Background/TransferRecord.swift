internal import Foundation
internal import Interceptors

/// One attempt of a transfer. The system keeps its text as the description of a task.
struct TransferTask: Sendable, Hashable {
    let id: BackgroundTransfer.ID
    let attempt: Int

    /// The text that identifies the task in a later launch.
    var text: String { "\(id) \(attempt)" }
}

extension TransferTask {
    /// `nil` for the text of a task that this module didn't start.
    init?(text: String?) {
        let parts = (text ?? "").split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, let attempt = Int(parts[1]) else { return nil }
        self.init(id: String(parts[0]), attempt: attempt)
    }
}

/// The content of a transfer's file on disk. It holds no part of the request, because that may be secret.
struct TransferRecord: Codable, Sendable, Hashable {
    /// The state of a transfer that a later launch must know.
    enum Phase: Codable, Sendable, Hashable {
        /// The session has the attempt, or is about to get it.
        case enqueued
        /// The attempt before this one failed, and a request for this one is being prepared.
        case renewing(TransferFailure)
        /// The complete content has its hidden name in the destination's folder.
        case staged(TransferResponse)
        /// The end waits to be delivered.
        case ended(TransferEnding)
    }

    let id: String
    let destination: StoredPath?
    let note: String
    /// Whether the final response may come from another origin than the request's.
    let allowsOtherOrigins: Bool
    var attempt = 1
    var phase = Phase.enqueued

    var task: TransferTask { TransferTask(id: id, attempt: attempt) }
    var isDownload: Bool { destination != nil }

    var transfer: BackgroundTransfer { transfer(at: attempt) }

    /// The transfer at an attempt, such as the one that failed before this one.
    func transfer(at attempt: Int) -> BackgroundTransfer {
        BackgroundTransfer(id: id, destination: destination?.url, note: note, attempt: attempt)
    }
}

/// The parts of a response that are kept: none can hold a secret.
struct TransferResponse: Codable, Sendable, Hashable {
    static let keptFields: [HTTPField.Name] = [.contentType, .contentDisposition, .eTag, .lastModified]

    let status: Int
    let fields: HTTPFields
    /// Whether a redirect led to another origin than the request's.
    let isElsewhere: Bool
    /// Whether a redirect led from https to another scheme.
    let isInsecure: Bool

    /// - Parameter field: returns the value of a field.
    init(status: Int, from request: URL?, to final: URL?, field: (HTTPField.Name) -> String?) {
        self.status = status
        var fields = HTTPFields()
        for name in Self.keptFields {
            if let field = field(name).flatMap({ HTTPField(name: name, value: $0) }) { fields.append(field) }
        }
        self.fields = fields
        // Without a URL, nothing proves where the content came from.
        let (from, to) = (request.flatMap(Origin.init), final.flatMap(Origin.init))
        isElsewhere = from == nil || from != to
        isInsecure = (from == nil || from?.scheme == "https") && to?.scheme != "https"
    }

    /// The response without content. A status that isn't one of HTTP becomes a 500.
    func response(content: Data = Data()) -> HTTPResponse {
        let status = HTTPResponse.Status(code: status) ?? 500
        return HTTPResponse(status: status, headers: fields, body: HTTPBody(content))
    }

    /// The failure that this response means, or `nil` if it is a success.
    func failure(allowsOtherOrigins: Bool) -> TransferFailure? {
        if isInsecure {
            let message = "A redirect led from https to http, where anybody could answer. Ask the server's operator."
            return TransferFailure(.insecureRedirect, message)
        }
        if isElsewhere, !allowsOtherOrigins {
            let message = "A redirect led to another origin. Pass allowsOtherOrigins: true if that is intended."
            return TransferFailure(.redirectedElsewhere, message)
        }
        guard 200..<300 ~= status else {
            return TransferFailure(.unacceptedStatus, "The status \(status) is not a success.", self)
        }
        return nil
    }
}

/// A failure in the form that is kept on disk.
struct TransferFailure: Codable, Sendable, Hashable {
    let code: String
    let message: String
    let response: TransferResponse?

    init(_ code: HTTPErrorCode, _ message: String, _ response: TransferResponse? = nil) {
        self.code = code.rawValue
        self.message = message
        self.response = response
    }

    /// The failure that an error means. An error of another type isn't described, because its text may hold a secret.
    init(_ error: any Error, otherwise code: HTTPErrorCode, _ message: String) {
        let error = error as? any HTTPError
        self.init(error?.code ?? code, error?.message ?? message)
    }

    var error: TransferError { TransferError(HTTPErrorCode(rawValue: code), message, response: response?.response()) }

    /// The 401 that refused the credential, if that was the failure. Another origin didn't get the credential.
    var rejection: HTTPResponse? {
        guard let response, response.status == 401, !response.isElsewhere else { return nil }
        return response.response()
    }

    /// Whether a fresh request may succeed: the credential was refused, or the transfer stopped without an outcome.
    var isRenewable: Bool {
        response?.status == 401 || code == HTTPErrorCode.transferLost.rawValue
            || code == HTTPErrorCode.cancelledBySystem.rawValue
    }

    static let lost = Self(
        .transferLost,
        "The transfer has no outcome: its process ended, or the system dropped it. Enqueue it again."
    )
}

enum TransferEnding: Codable, Sendable, Hashable {
    case finished(TransferResponse)
    case failed(TransferFailure)
    case cancelled

    /// - Parameter content: the content of an upload's response.
    func result(content: Data) -> Result<HTTPResponse, any Error> {
        switch self {
        case .finished(let response): .success(response.response(content: content))
        case .failed(let failure): .failure(failure.error)
        case .cancelled: .failure(CancellationError())
        }
    }
}

/// A file's path, relative to the app's container if it is inside. A container has another path after an update of the app.
struct StoredPath: Codable, Sendable, Hashable {
    let isInHome: Bool
    let path: String

    init(_ file: URL, home: String = NSHomeDirectory()) {
        // The same folder has two spellings on Apple's systems.
        func plain(_ path: String) -> String { path.hasPrefix("/private/var/") ? String(path.dropFirst(8)) : path }
        let (path, home) = (plain(file.path), plain(home))
        let prefix = home.hasSuffix("/") ? home : home + "/"
        isInHome = path.hasPrefix(prefix)
        self.path = isInHome ? String(path.dropFirst(prefix.count)) : file.path
    }

    var url: URL { url(home: NSHomeDirectory()) }

    func url(home: String) -> URL { isInHome ? URL(filePath: home).appending(path: path) : URL(filePath: path) }
}
