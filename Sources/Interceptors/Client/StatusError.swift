public import Foundation

/// The error for a response whose status isn't accepted: by `validateStatus`, or by a download or an upload.
///
/// ```swift
/// do {
///     let user: User = try await api.get("/users/42")
/// } catch let error as StatusError where error.status == 404 {
///     let problem = try error.decode(Problem.self)
/// }
/// ```
/// Its descriptions, and the output of `dump`, contain no secret that `Redaction.standard` recognises. ``response`` and
/// ``body`` are unredacted.
public struct StatusError: HTTPError {
    private var answer: HTTPResponse
    /// The response's body as received, up to the limit, possibly with secrets.
    public let body: Data
    /// Whether ``body`` is the complete body. `false` if the body was longer than the limit or couldn't be read to its end.
    public let isBodyComplete: Bool
    /// The method of the request as `validateStatus` or the transfer sent it on, and the redacted URL that responded:
    /// `HTTPResponse.url` if the transport set it, otherwise the request's.
    public let request: HTTPRequest.Summary?
    /// The cause and the remedy, without secrets.
    public let message: String

    /// Creates the error from a response: reads its body up to the limit, and discards the rest.
    ///
    /// - Parameter message: makes the message, given the URL that responded.
    package init(
        _ response: HTTPResponse,
        method: HTTPRequest.Method,
        url: URL,
        bodyLimit: Int,
        message: (URL) -> String
    ) async throws {
        let answering = response.url ?? url
        (body, isBodyComplete) = try await response.beginning(upTo: bodyLimit)
        answer = HTTPResponse(
            status: response.status,
            headers: response.headers,
            body: HTTPBody(body),
            url: response.url,
            context: response.context
        )
        request = HTTPRequest.Summary(method: method, url: answering)
        self.message = message(answering)
    }
}

extension StatusError {
    /// Throws if the status is no success, unless an interceptor has accepted it.
    package static func check(_ response: HTTPResponse, to request: HTTPRequest) async throws {
        guard response.status.kind != .successful, response.context.validatesStatus else { return }
        throw try await StatusError(response, method: request.method, url: request.url, bodyLimit: 1 << 20) { url in
            let status = PrintableText.line(response.status.description)
            if response.context.isMadeLocally {
                return "\(status): the server could not be asked, and nothing stored may be used."
            }
            return "\(status) \(response.unfollowedRedirect(from: url) ?? "is not a success.")"
        }
    }
}

extension StatusError {
    /// Always `HTTPErrorCode.unacceptedStatus`: see ``status``.
    public var code: HTTPErrorCode { .unacceptedStatus }

    /// The response as received, never `nil`, with its body in memory, up to the limit: see ``isBodyComplete``.
    public var response: HTTPResponse? { answer.with(isBodyComplete: isBodyComplete) }

    /// The status of ``response``.
    public var status: HTTPResponse.Status { answer.status }

    /// The header fields of ``response``.
    public var headers: HTTPFields { answer.headers }

    /// On a cache's own 504: the error that the request to the server failed with.
    public var underlying: (any Error)? { answer.context.underlyingError }

    /// The context of ``response``.
    public var context: HTTPContext {
        get { answer.context }
        set { answer.context = newValue }
    }

    /// The start of the body, up to 1 KiB, by `Redaction.excerpt(of:type:limit:)`, with control characters escaped.
    public var excerpt: String { PrintableText.lines(redactedBody) }

    private var redactedBody: String {
        let type = answer.headers[.contentType]
        return Redaction.standard.excerpt(of: body, type: type, isComplete: isBodyComplete)
    }

    /// The message, the request and the start of the body on one line, without secrets.
    public var description: String {
        let text = line("StatusError: \(message)")
        // On one line, so that text from the server can't imitate a line of a log.
        let excerpt = PrintableText.line(redactedBody)
        return excerpt.isEmpty ? text : "\(text) Body: \(excerpt)"
    }
}

extension HTTPResponse {
    /// Where the response leads, and how to follow it; `nil` if its status isn't a redirect's.
    ///
    /// - Parameters:
    ///   - url: the URL that responded, to which a relative `Location` refers.
    ///   - remedy: the part of the sentence after the target.
    package func unfollowedRedirect(
        from url: URL,
        remedy: String = "and nothing followed it. To follow it, add .followRedirects() to the chain."
    ) -> String? {
        guard [301, 302, 303, 307, 308].contains(status.code) else { return nil }
        guard let location = headers[values: .location].first, !location.isEmpty else {
            return "is a redirect without a Location: there is nothing to follow."
        }
        guard let target = URL(string: location, relativeTo: url)?.absoluteURL, target.scheme != nil else {
            return "is a redirect whose Location is not a URL: there is nothing to follow."
        }
        return "redirects to \(Redaction.standard.string(for: target)), \(remedy)"
    }
}
