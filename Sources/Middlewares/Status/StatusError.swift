public import Foundation

/// A response that ``ValidateStatusInterceptor`` did not let through.
///
/// ```swift
/// do {
///     let user: User = try await api.get("/users/42")
/// } catch let error as StatusError where error.status == 404 {
///     let problem = try? JSONDecoder().decode(Problem.self, from: error.body)
/// }
/// ```
/// What it prints, also by `dump`, holds no secret that ``Redaction/standard`` knows; ``response`` and ``body`` are as
/// received.
public struct StatusError: Error, Sendable {
    /// The response as received, but that its body is in memory and no longer than the limit: ``isBodyComplete``.
    public internal(set) var response: HTTPResponse
    /// The body, up to the limit; as received, so possibly with secrets.
    public let body: Data
    /// Whether ``body`` is all of it. If not, it was longer than the limit, or could not be read to its end.
    public let isBodyComplete: Bool
    /// The method of the request as it came to `validateStatus`.
    public let method: HTTPRequest.Method
    /// The URL that answered, with secrets redacted: ``HTTPResponse/url`` if the transport told it.
    public let url: String
    /// What happened and what to do about it, for a person, without secrets.
    public let message: String

    /// The status.
    public var status: HTTPResponse.Status { response.status }

    /// The beginning of the body as text, at most 1 KiB of it, with secrets redacted and control characters escaped.
    public var excerpt: String { PrintableText.lines(Redaction.standard.excerpt(of: body, isComplete: isBodyComplete)) }

    /// Takes over a response: its body is read up to the limit, the rest is discarded.
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

    // A body that breaks off, or was read already, must not hide the status behind an error of its own.
    private static func beginning(of body: HTTPBody, limit: Int) async throws -> (Data, isComplete: Bool) {
        if let bytes = body.bytes {
            // A copy, so that a small excerpt doesn't keep a large buffer alive.
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
        switch response.status.code {
        case 301, 302, 303, 307, 308:
            return "\(status) \(redirection(response, from: url))"
        case 304:
            return
                "\(status) answers a conditional request, but the one that came to validateStatus was not conditional."
                + " What adds a condition further inside has to answer the 304 itself, or 304 has to be accepted."
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

extension StatusError: ResponseError {}

extension StatusError: ContextualError {
    /// The context of the response.
    public var context: HTTPContext {
        get { response.context }
        set { response.context = newValue }
    }
}

extension StatusError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError, CustomReflectable {
    /// Message, request and the beginning of the body, without secrets, on one line.
    public var description: String {
        let text = "StatusError: \(message) (\(PrintableText.line(method.rawValue)) \(url))"
        // What the server chose can't forge a line of a log.
        let excerpt = PrintableText.line(Redaction.standard.excerpt(of: body, isComplete: isBodyComplete))
        return excerpt.isEmpty ? text : "\(text) Body: \(excerpt)"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// What ``description`` shows, part by part.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "status": status.code, "method": method.rawValue, "url": url, "message": message, "body": excerpt,
            ]
        )
    }
}
