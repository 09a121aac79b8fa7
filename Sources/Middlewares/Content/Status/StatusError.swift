public import Foundation

/// The error for a response whose status ``ValidateStatusInterceptor`` didn't accept.
///
/// ```swift
/// do {
///     let user: User = try await api.get("/users/42")
/// } catch let error as StatusError where error.status == 404 {
///     let problem = try? JSONDecoder().decode(Problem.self, from: error.body)
/// }
/// ```
/// Its descriptions, and the output of `dump`, contain no secret that ``Redaction/standard`` recognises. ``response`` and
/// ``body`` are unredacted.
public struct StatusError: Error, Sendable {
    /// The response as received, with its body in memory, up to the limit: see ``isBodyComplete``.
    public internal(set) var response: HTTPResponse
    /// The response's body as received, up to the limit, possibly with secrets.
    public let body: Data
    /// Whether ``body`` is the complete body. `false` if the body was longer than the limit or couldn't be read to its end.
    public let isBodyComplete: Bool
    /// The method of the request as `validateStatus` received it.
    public let method: HTTPRequest.Method
    /// The URL of the response, with secrets redacted: ``HTTPResponse/url`` if the transport set it, otherwise the request's.
    public let url: String
    /// A message for people: the cause and the remedy, without secrets.
    public let message: String
    /// On a cache's own 504: the error that the request to the server failed with.
    public var underlying: (any Error)? { response.context.underlyingError }

    /// The status of ``response``.
    public var status: HTTPResponse.Status { response.status }

    /// The start of the body as text, up to 1 KiB, with secrets redacted and control characters escaped.
    public var excerpt: String { PrintableText.lines(Redaction.standard.excerpt(of: body, isComplete: isBodyComplete)) }

    /// Creates the error from a response: reads its body up to the limit, and discards the rest.
    init(_ response: HTTPResponse, method: HTTPRequest.Method, url: URL, bodyLimit: Int) async throws {
        let answering = response.url ?? url
        (body, isBodyComplete) = try await Self.beginning(of: response.body, limit: bodyLimit)
        self.response = HTTPResponse(
            status: response.status,
            headerFields: response.headerFields,
            body: HTTPBody(body),
            url: response.url,
            context: response.context
        )
        self.method = method
        self.url = Redaction.standard.string(for: answering)
        self.message = Self.message(for: response, from: answering)
    }

    // A body that can't be read must not replace the status error with another error.
    private static func beginning(of body: HTTPBody, limit: Int) async throws -> (Data, isComplete: Bool) {
        if let bytes = body.bytes {
            // Copied, so that a small excerpt doesn't keep a large buffer alive.
            return bytes.count <= limit ? (bytes, true) : (bytes.prefix(limit).withUnsafeBytes { Data($0) }, false)
        }
        var collected = Data()
        do {
            for try await chunk in body {
                let room = limit - collected.count
                collected.append(chunk.prefix(room))
                guard chunk.count <= room else {
                    body.discard()
                    return (collected, false)
                }
            }
            return (collected, true)
        } catch {
            body.discard()
            if error is CancellationError || Task.isCancelled { throw CancellationError() }
            return (collected, false)
        }
    }
}

extension StatusError {
    static func message(for response: HTTPResponse, from url: URL) -> String {
        let status = PrintableText.line(response.status.description)
        if response.context.cacheOutcome?.result == .unsatisfiable {
            let isOffline = response.context.underlyingError == nil
            let cause = isOffline ? "nothing may be sent" : "the server could not be reached"
            return "\(status): \(cause), and nothing stored may be used."
        }
        switch response.status.code {
        case 301, 302, 303, 307, 308:
            return "\(status) \(redirection(response, from: url))"
        case 304:
            return
                "\(status) answers a conditional request, but the request at validateStatus was not conditional. The inner"
                + " interceptor that adds the condition must handle the 304, or validateStatus must accept 304."
        default:
            return "\(status) is not an accepted status."
        }
    }

    private static func redirection(_ response: HTTPResponse, from url: URL) -> String {
        guard let location = response.headerFields[values: .location].first, !location.isEmpty else {
            return "is a redirect without a Location: there is nothing to follow."
        }
        guard let target = URL(string: location, relativeTo: url)?.absoluteURL, target.scheme != nil else {
            return "is a redirect whose Location is not a URL: there is nothing to follow."
        }
        return "redirects to \(Redaction.standard.string(for: target)), and nothing inside validateStatus followed it."
            + " To follow it, put .followRedirects() after .validateStatus() in the array."
    }
}

extension StatusError: ResponseError {
    var isToldByStatus: Bool { true }
}

extension StatusError: ContextualError {
    /// The context of the response.
    public var context: HTTPContext {
        get { response.context }
        set { response.context = newValue }
    }
}

extension StatusError: DescribedError, CustomReflectable {
    /// The message, the request and the start of the body on one line, without secrets.
    public var description: String {
        var text = "StatusError: \(message) (\(PrintableText.line(method.rawValue)) \(url))"
        if let underlying { text += " Cause: \(underlying)" }
        // On one line, so that text from the server can't imitate a line of a log.
        let excerpt = PrintableText.line(Redaction.standard.excerpt(of: body, isComplete: isBodyComplete))
        return excerpt.isEmpty ? text : "\(text) Body: \(excerpt)"
    }

    /// The parts of ``description``, so that `dump` prints no secret either.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "status": status.code, "method": method.rawValue, "url": url, "message": message, "body": excerpt,
            ]
        )
    }
}
