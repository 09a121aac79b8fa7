internal import Foundation
internal import InterceptorsCore
internal import InterceptorsSyntax

extension CachePolicy {
    /// Why a request forbids storing its response (RFC 9111 §3); `nil` if it doesn't.
    static func refusal(to request: HTTPRequest) -> CacheOutcome.Storing? {
        guard request.method == .get else { return .method }
        return request.body.isEmpty && mayStore(request) ? nil : .request
    }

    /// Why a response forbids being stored, whatever the request (RFC 9111 §3); `nil` if it doesn't.
    static func refusal(of status: HTTPResponse.Status, _ facts: ResponseFacts) -> CacheOutcome.Storing? {
        switch status.code {
        case 206: return .partial
        // These responses are about the credentials, a condition or a range of this request, not about the resource.
        case ..<200, 304, 401, 407, 412, 416: return .status
        default: break
        }
        let directives = facts.directives
        // §5.2.2.3: with `must-understand`, a response whose status is understood may be stored in spite of `no-store`.
        if directives.mustUnderstand && !isUnderstood(status) { return .notUnderstood }
        if directives.noStore && !directives.mustUnderstand { return .noStore }
        if facts.selectors == nil { return .vary }
        let isAllowed =
            isHeuristicallyCacheable(status) || directives.isPublic || directives.isPrivate
            || directives.maxAge.isPresent || facts.hasExpiry
        return isAllowed ? nil : .status
    }

    /// Whether a request allows changing the store by what it brings: a new response, or news of a stored one.
    static func mayStore(_ request: HTTPRequest) -> Bool {
        request.context.cacheMode != .doNotStore && !CacheControl(request.headers).noStore
    }

    // Whether a status is an error that says nothing about the resource, unlike 404 and 410.
    static func isPassing(_ status: HTTPResponse.Status) -> Bool {
        status.code >= 400 && status != 404 && status != 410
    }

    // An error that needs validation at every use would serve no request. It would also replace a response that can be served
    // when the server can't be reached (§4.3.3). Error pages often have `no-cache`.
    static func isOfUse(_ stored: CachedResponse) -> Bool {
        !stored.facts.directives.noCache && freshness(of: stored, now: stored.responseTime).isFresh
    }

    /// The response to store.
    func stored(_ response: HTTPResponse, to request: HTTPRequest, timing: Timing) -> CachedResponse {
        let received = response.headers
        var fields = Self.kept(received)
        // RFC 9110 §6.6.1: without a valid date, a response gets the date of its arrival.
        if Self.date(fields, .date, now: timing.wallTime) == nil { fields[.date] = HTTPDate.format(timing.wallTime) }
        return CachedResponse(
            status: response.status,
            headers: fields,
            selectingFields: selectingFields(request, for: fields),
            initialAge: Self.initialAge(received, timing: timing),
            responseTime: timing.responseTime
        ).parse()
    }

    /// The fields to store: without fields for one connection or a proxy, and without `Age`.
    static func kept(_ fields: HTTPFields) -> HTTPFields {
        guard fields.contains(where: { dropped.contains($0.name) }) else { return fields }
        var options: Set<HTTPField.Name> = []
        for value in fields[values: .connection] {
            for option in value.utf8.split(separator: UInt8(ascii: ",")) {
                let name = option.filter { $0 != 0x20 && $0 != 0x09 }
                if let name = HTTPField.Name(String(decoding: name, as: UTF8.self)) { options.insert(name) }
            }
        }
        // Fields that limit the use of a response are for every recipient, whatever `Connection` says (RFC 9110 §7.6.1).
        options.subtract([.cacheControl, .expires, .vary])
        return HTTPFields(fields.filter { !dropped.contains($0.name) && !options.contains($0.name) })
    }

    /// The fields that are for one connection or for a proxy (RFC 9111 §3.1), or are stored as a number, like `Age`.
    private static let dropped: Set<HTTPField.Name> = [
        .age, .connection, .keepAlive, .te, .trailer, .transferEncoding, .upgrade, .proxyAuthenticate,
        .proxyAuthorization,
        "Proxy-Connection", "Proxy-Authentication-Info",
    ]
}
