internal import Foundation
internal import InterceptorsCore
internal import InterceptorsSyntax

/// Makes responses from stored entries.
enum CacheAnswers {
    /// The response to a request from a stored entry (RFC 9111 §4). The body is in memory, unless it is streamed.
    static func response(
        _ served: CachePolicy.Served,
        from entry: CacheEntry,
        to request: HTTPRequest,
        outcome: CacheOutcome
    ) async throws -> HTTPResponse {
        var response = head(served, from: entry, to: request, outcome: outcome)
        guard let range = body(served.form, entry), !range.isEmpty else { return response }
        if let limit = request.context.responseBody.bufferLimit {
            response.body = try await entry.collected(range, upTo: limit)
        } else {
            response.body = try await entry.body(range)
        }
        return response
    }

    /// The byte range of the stored body to return; `nil` for a response without content.
    private static func body(_ form: CachePolicy.Form, _ entry: CacheEntry) -> Range<Int64>? {
        switch form {
        case .full: 0..<entry.length
        case .partial(let bytes): bytes
        case .head, .notModified, .unsatisfiableRange: nil
        }
    }

    /// The response without its body.
    private static func head(
        _ served: CachePolicy.Served,
        from entry: CacheEntry,
        to request: HTTPRequest,
        outcome: CacheOutcome
    ) -> HTTPResponse {
        var outcome = outcome
        let age = served.freshness.age
        outcome.age = age.map { .seconds($0) }
        let timeToLive = age.map { served.freshness.lifetime - $0 }
        outcome.timeToLive = timeToLive.map { .seconds($0) }
        outcome.staleReason = outcome.staleReason ?? served.stale
        var response = HTTPResponse(status: entry.response.status, headers: entry.response.headers, url: request.url)
        apply(served.form, entry, to: &response)
        // Stored fields have no `Age`. An age above the maximum becomes the maximum (RFC 9111 §1.2.2).
        let text = String(min(age ?? entry.response.initialAge, DeltaSeconds.ceiling))
        response.context.cacheOutcome = outcome
        response.headers.append(
            HTTPField(name: .age, trimmed: text, hasControl: false),
            CacheStatus.field(outcome, timeToLive: timeToLive)
        )
        return response
    }

    private static func apply(_ form: CachePolicy.Form, _ entry: CacheEntry, to response: inout HTTPResponse) {
        switch form {
        case .full, .head: break
        case .notModified:
            response.status = 304
            // RFC 9110 §15.4.5: no metadata of a representation that isn't sent, except its location.
            response.headers.removeAll { isOfContent($0.name) && $0.name != .contentLocation }
        case .partial(let bytes):
            response.status = 206
            response.headers.removeAll { CachePolicy.digestsOfContent.contains($0.name) }
            response.headers[.contentRange] = ContentRange(bytes: bytes, total: entry.length).description
            response.headers[.contentLength] = String(bytes.length)
        case .unsatisfiableRange:
            response.status = 416
            response.headers.removeAll { isOfContent($0.name) || $0.name == .eTag || $0.name == .lastModified }
            response.headers[.contentRange] = ContentRange(bytes: nil, total: entry.length).description
        }
    }

    private static func isOfContent(_ name: HTTPField.Name) -> Bool {
        name.rawName.lowercased().hasPrefix("content-")
    }

    /// A 504, because nothing stored may be used and the server can't be asked (RFC 9111 §5.2.1.7, §5.2.2.2).
    ///
    /// - Parameter cause: the error that the request to the server failed with, if it was sent.
    static func gatewayTimeout(
        _ request: HTTPRequest,
        _ outcome: CacheOutcome,
        cause: (any Error)? = nil
    ) -> HTTPResponse {
        var response = HTTPResponse(status: 504, url: request.url)
        response.context.isMadeLocally = true
        if let cause { response.context.underlyingError = cause }
        return marked(response, outcome)
    }

    /// Records the outcome in the context, and in the field `Cache-Status` (RFC 9211).
    static func marked(_ response: consuming HTTPResponse, _ outcome: CacheOutcome) -> HTTPResponse {
        // A cache further inside may have served a stored response, whose cookies are not for a jar.
        if response.context.cacheOutcome != nil { response.context.cookiesFromServer = response.receivedCookies }
        response.context.cacheOutcome = outcome
        // A cache appends its member after those of caches nearer to the origin (RFC 9211 §2).
        response.headers.append(CacheStatus.field(outcome))
        return response
    }
}
