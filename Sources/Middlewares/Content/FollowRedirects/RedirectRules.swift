internal import Foundation

/// Derives the next request from a redirect (RFC 9110 §15.4), without side effects.
struct RedirectRules: Sendable {
    let redaction: Redaction

    /// The target of a response.
    enum Destination: Equatable {
        /// The response isn't a redirect, or has no `Location`.
        case none
        case url(URL)
        /// The `Location` is invalid.
        case invalid
    }

    /// The target of a response to a request for `base`.
    static func destination(of response: HTTPResponse, from base: URL) -> Destination {
        guard response.status.canRedirect else { return .none }
        let locations = Set(response.headers[values: .location])
        // An empty `Location` would name the URL that has just redirected, so it counts as missing.
        guard let location = locations.first, !(locations.count == 1 && location.isEmpty) else { return .none }
        // If two values differ, one may be forged.
        guard locations.count == 1, let url = LocationField.url(location, from: base) else { return .invalid }
        return .url(url)
    }

    /// The next request after a redirect.
    func request(after request: HTTPRequest, status: HTTPResponse.Status, to target: URL) -> HTTPRequest {
        var next = request
        next.url = target
        if Redirect.dropsContent(status, request.method) {
            if request.method != .head { next.method = .get }
            // The value was about the old method: a GET may be repeated even if the POST may not.
            if next.method != request.method { next.context.isIdempotent = nil }
            next.body = .empty
            next.headers.removeAll { $0.name.isAboutContent }
        }
        if Origin(request.url) != Origin(target) { next.headers.removeAll { isBoundToOrigin($0.name) } }
        // RFC 9110 §10.1.3.
        if Self.isDowngrade(from: request.url, to: target) { next.headers.remove(.referer) }
        return next
    }

    /// The request that a policy derived from the proposed one. If its origin wasn't proposed, the request keeps only those
    /// origin-bound fields that the policy has set.
    func request(_ changed: HTTPRequest, insteadOf proposed: HTTPRequest) -> HTTPRequest {
        guard Origin(changed.url) != Origin(proposed.url) else { return changed }
        var next = changed
        next.headers.removeAll { field in
            isBoundToOrigin(field.name) && proposed.headers[values: field.name].contains(field.value)
        }
        return next
    }

    /// Whether a redirect leads from https to another scheme.
    static func isDowngrade(from url: URL, to target: URL) -> Bool {
        url.scheme?.lowercased() == "https" && target.scheme?.lowercased() != "https"
    }

    /// Whether a field may only be sent to the origin that the request was made for.
    func isBoundToOrigin(_ name: HTTPField.Name) -> Bool { redaction.isBoundToOrigin(name) }
}
