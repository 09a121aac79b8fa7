internal import Foundation
internal import Interceptors

/// Makes responses out of what is stored.
enum CacheAnswers {
    /// The response to a request that is served from the store (RFC 9111 §4), its body in memory unless it is streamed.
    static func response(
        _ served: CachePolicy.Served,
        from entry: CacheEntry,
        to request: HTTPRequest,
        outcome: CacheOutcome
    ) async throws -> HTTPResponse {
        var outcome = outcome
        outcome.age = served.age.map { .seconds($0) }
        outcome.timeToLive = served.age.map { .seconds(served.lifetime - $0) }
        outcome.staleReason = outcome.staleReason ?? served.stale
        var fields = entry.response.headerFields
        if !served.omitted.isEmpty {
            fields.removeAll { served.omitted.contains($0.name.rawName.lowercased()) }
        }
        // Nothing stored has one. What is older than can be told is as old as can be told (RFC 9111 §1.2.2).
        fields.append(.age, String(min(served.age ?? entry.response.initialAge, DeltaSeconds.ceiling)))
        var response = HTTPResponse(status: entry.response.status, headerFields: fields, url: request.url)
        try await apply(served.form, entry, to: &response, bufferLimit: request.context.responseBody.bufferLimit)
        mark(&response, outcome)
        return response
    }

    private static func apply(
        _ form: CachePolicy.Form,
        _ entry: CacheEntry,
        to response: inout HTTPResponse,
        bufferLimit: Int?
    ) async throws {
        var range: Range<Int64>?
        switch form {
        case .full: range = 0..<entry.length
        case .head: break
        case .notModified:
            response.status = 304
            // RFC 9110 §15.4.5: no metadata of a representation that isn't sent, but its location.
            response.headerFields.removeAll { isOfContent($0.name) && $0.name != .contentLocation }
        case .partial(let bytes):
            response.status = 206
            response.headerFields[.contentRange] = ContentRange(bytes: bytes, total: entry.length).description
            response.headerFields[.contentLength] = String(bytes.count)
            range = bytes
        case .unsatisfiableRange:
            response.status = 416
            response.headerFields.removeAll { isOfContent($0.name) || $0.name == .eTag || $0.name == .lastModified }
            response.headerFields[.contentRange] = ContentRange(bytes: nil, total: entry.length).description
        }
        guard let range, !range.isEmpty else { return }
        if let bufferLimit {
            response.body = try await entry.collected(range, upTo: bufferLimit)
        } else {
            response.body = try await entry.body(range)
        }
    }

    private static func isOfContent(_ name: HTTPField.Name) -> Bool {
        name.rawName.lowercased().hasPrefix("content-")
    }

    /// The answer where nothing may be sent, or a stale response not be used (RFC 9111 §5.2.1.7, §5.2.2.2).
    static func gatewayTimeout(_ request: HTTPRequest, _ outcome: CacheOutcome) -> HTTPResponse {
        var response = HTTPResponse(status: 504, url: request.url)
        mark(&response, outcome)
        return response
    }

    /// Says what happened: for programs in the context, for people in `Cache-Status` (RFC 9211).
    static func mark(_ response: inout HTTPResponse, _ outcome: CacheOutcome) {
        response.context.cacheOutcome = outcome
        // Each cache adds its member after those of the caches nearer to the server (RFC 9211 §2).
        response.headerFields.append(HTTPField(name: .cacheStatus, trimmed: status(outcome), hasControl: false))
    }

    private static func status(_ outcome: CacheOutcome) -> String {
        var status = TextBytes(capacity: 96)
        status.append("Interceptors")
        if outcome.result == .hit || (outcome.result == .stale && outcome.forwardReason == nil) {
            status.append("; hit")
        } else if let reason = outcome.forwardReason {
            status.append("; fwd=")
            status.append(reason.description)
            if let code = outcome.forwardStatus {
                status.append("; fwd-status=")
                status.append(UInt64(code))
            }
        }
        if let ttl = outcome.timeToLive {
            status.append("; ttl=")
            status.append(String(ttl.components.seconds))
        }
        if outcome.storing == .stored || outcome.storing == .updated { status.append("; stored") }
        if let reason = outcome.staleReason {
            status.append("; detail=")
            status.append(reason.description)
        }
        if outcome.result == .unsatisfiable { status.append("; detail=unsatisfiable") }
        return status.text
    }
}
